package profiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadShapes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shapes.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"Linear_Bias\": [\"512x1024x1024\",\n \"m=1,n=2,k=3\"],\n \"é\": [\"\"]}")
	got, err := LoadShapes(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []PatternShapes{
		{Text{"Linear_Bias", 1, 2}, []Text{{"512x1024x1024", 1, 18}, {"m=1,n=2,k=3", 2, 2}}},
		{Text{"é", 3, 2}, []Text{{"", 3, 8}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "1:1: is empty"},
		{"no object", `["512x1024x1024"]`, "1:1: want an object from patterns"},
		{"a text", `"512x1024x1024"`, "1:1: want an object from patterns"},
		{"no pattern", "\n{}", "2:1: want an object from patterns"},
		{"a list of none", `{"Linear_Bias": []}`, "1:17: /Linear_Bias: want a list"},
		{"no list", `{"Linear_Bias": "512x1024x1024"}`, "1:17: /Linear_Bias: want a list"},
		{"null", `{"Linear_Bias": null}`, "1:17: /Linear_Bias: want a list"},
		{"a list of lists", "{\"Linear_Bias\": [\"1x1x1\",\n[512,1024,1024]]}", "2:1: /Linear_Bias/1: want a shape as text"},
		{"a key twice", `{"a": ["1"], "a": ["1"]}`, `1:14: duplicate key "a"`},
		{"truncated", `{"a": ["1"`, "1:11: unexpected end"},
		{"two of them", `{"a": ["1"]} {}`, "1:14: invalid character"},
		{"deep", `{"a": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}", "1:70: nested deeper than 64 levels"},
		{"many", `{"a": [` + strings.Repeat(`"1",`, 1<<20) + `"1"]}`, "more than 1048576 values"},
	} {
		write(c.text)
		_, err := LoadShapes(file)
		if err == nil || !strings.HasPrefix(err.Error(), "profiles: "+file+":") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := os.Truncate(file, MaxBytes+1); err != nil {
		t.Skipf("huge file: %v", err)
	}
	if _, err := LoadShapes(file); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("huge: %v", err)
	}
}

// FuzzShapes: whatever the text, it is refused with a place in it, or every shape is
// one of its strings and has a place of its own.
func FuzzShapes(f *testing.F) {
	for _, text := range []string{
		`{"Linear_Bias": ["512x1024x1024", "m=1,n=2,k=3"]}`, `{"a": []}`, `{"a": [1]}`, `{}`, `[`, `{"a":["\ud800"],"\u0061":[""]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		all, finding := parseShapes(data)
		if finding != nil {
			if all != nil || finding.Message == "" || finding.Line < 1 || finding.Line > lines || finding.Column < 1 {
				t.Fatalf("%+v beside %v in %d lines", finding, all, lines)
			}
			return
		}
		names := map[string]bool{}
		last := Text{}
		later := func(x Text) {
			if x.Line < last.Line || x.Line == last.Line && x.Column <= last.Column || x.Line > lines {
				t.Fatalf("%+v does not stand behind %+v", x, last)
			}
			last = x
		}
		for _, p := range all {
			later(p.Pattern)
			if names[p.Pattern.Value] || len(p.Shapes) == 0 {
				t.Fatalf("%+v", p)
			}
			names[p.Pattern.Value] = true
			for _, s := range p.Shapes {
				later(s)
			}
		}
		if len(all) == 0 {
			t.Fatal("neither shapes nor a finding")
		}
	})
}
