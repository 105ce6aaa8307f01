package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	badCases = "../testdata/bad/cases.json"
	badTexts = "../testdata/bad/text"
)

// badCase is the golden profile with a patch, and the findings that it gets.
// Operations are those of RFC 6902, and "scale" multiplies a figure.
type badCase struct {
	Name  string   `json:"name"`
	Rule  string   `json:"rule"`
	Patch []edit   `json:"patch"`
	Want  []string `json:"want"`
}

type edit struct {
	Op    string          `json:"op"`
	From  string          `json:"from,omitempty"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func TestBadProfiles(t *testing.T) {
	cases := readBadCases(t)
	data := golden(t)
	covered := map[string]bool{}
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			bad := apply(t, data, c.Patch)
			var got, names []string
			for _, f := range validateAt(bad, now) {
				got = append(got, fmt.Sprintf("%s [%s]", f, f.Rule))
				names = append(names, f.Rule)
				if f.Line < 1 || f.Column < 1 {
					t.Errorf("%s: at %d:%d", f, f.Line, f.Column)
				}
			}
			if !slices.Contains(names, c.Rule) {
				t.Errorf("rule %s finds nothing; got %q", c.Rule, got)
			}
			covered[c.Rule] = true
			if *update {
				cases[i].Want = got
				return
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, r := range rules {
		if !covered[r.name] {
			t.Errorf("no bad profile for rule %s", r.name)
		}
	}
	if *update {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(cases); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(badCases, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBadTexts: what is no JSON, or not allowed as such, with line and column.
func TestBadTexts(t *testing.T) {
	files, err := filepath.Glob(badTexts + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range Validate(data) {
				fmt.Fprintf(&got, "%d:%d: %s [%s]\n", f.Line, f.Column, f, f.Rule)
			}
			wantFile := strings.TrimSuffix(file, ".json") + ".want"
			if *update {
				if err := os.WriteFile(wantFile, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantFile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" || got.Len() == 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// Loading refuses the same, for the same reason.
			var invalid *InvalidError
			if _, err := Load(file); !errors.As(err, &invalid) {
				t.Errorf("Load: %v", err)
			} else if first, _, _ := strings.Cut(string(want), " ["); !strings.HasPrefix(err.Error(), "profiles: "+file+":"+first) {
				t.Errorf("Load: %v, want %s", err, first)
			}
		})
	}
}

// TestHugeAndDeep makes the texts that are too large to keep.
func TestHugeAndDeep(t *testing.T) {
	nest := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, c := range []struct {
		name, text, want string
	}{
		{"64 levels", nest(64), "wrong type: got array, want object"},
		{"65 levels", nest(65), "1:65: nested deeper than 64 levels"},
		{"a million levels", nest(1 << 20), "nested deeper than 64 levels"},
		{"a million open brackets", strings.Repeat("[", 1<<20), "nested deeper than 64 levels"},
		{"a million open objects", strings.Repeat(`{"a":`, 1<<20), "nested deeper than 64 levels"},
		{"brackets in a string", `["` + strings.Repeat("[", 1000) + `\"[[[["]`, "wrong type: got array, want object"},
		{"a million values", "[" + strings.Repeat("0,", 1<<20) + "0]", "more than 1048576 values"},
		{"a large string", `"` + strings.Repeat("a", 1<<20) + `"`, "wrong type: got string, want object"},
		{"ten thousand unknown properties", manyProperties(10000), "more than 200 findings"},
		{"an exponent of a billion", `{"a": 1e1000000000}`, "outside the range"},
		{"a number of a million digits", `{"a": 1` + strings.Repeat("0", 1<<20) + `}`, "the limit is 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Validate([]byte(c.text)) {
				got = append(got, fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f))
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, c.want) {
				t.Errorf("got %.300s, want %s", all, c.want)
			}
			if len(got) > MaxFindings+1 {
				t.Errorf("%d findings", len(got))
			}
		})
	}
}

func manyProperties(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, "%q: %d, ", "p"+strconv.Itoa(i), i)
	}
	return strings.TrimSuffix(b.String(), ", ") + "}"
}

// apply patches the text of a profile.
func apply(t testing.TB, data []byte, patch []edit) []byte {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		t.Fatal(err)
	}
	for _, e := range patch {
		var value any
		switch e.Op {
		case "copy":
			value = clone(at(t, root, e.From))
		case "scale":
			x, err := at(t, root, e.Path).(json.Number).Float64()
			if err != nil {
				t.Fatal(err)
			}
			f, err := strconv.ParseFloat(string(e.Value), 64)
			if err != nil {
				t.Fatal(err)
			}
			value = x * f
		case "add", "replace":
			d := json.NewDecoder(bytes.NewReader(e.Value))
			d.UseNumber()
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
		case "remove":
		default:
			t.Fatalf("unknown operation %q", e.Op)
		}
		cut := strings.LastIndexByte(e.Path, '/')
		parent, name := at(t, root, e.Path[:cut]), unescape.Replace(e.Path[cut+1:])
		switch p := parent.(type) {
		case map[string]any:
			if _, ok := p[name]; !ok && (e.Op == "remove" || e.Op == "replace") {
				t.Fatalf("%s %s: nothing there", e.Op, e.Path)
			}
			if p[name] = value; e.Op == "remove" {
				delete(p, name)
			}
		case []any:
			if name != "-" {
				t.Fatalf("%s: only appending to lists", e.Path)
			}
			up := strings.LastIndexByte(e.Path[:cut], '/')
			at(t, root, e.Path[:up]).(map[string]any)[e.Path[up+1:cut]] = append(p, value)
		default:
			t.Fatalf("%s: no container", e.Path)
		}
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func at(t testing.TB, v any, path string) any {
	t.Helper()
	for _, token := range strings.Split(path, "/")[1:] {
		switch c := v.(type) {
		case map[string]any:
			v = c[unescape.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(c) {
				t.Fatalf("%s: no element %s", path, token)
			}
			v = c[i]
		default:
			t.Fatalf("%s: nothing there", path)
		}
	}
	return v
}

func clone(v any) any {
	switch c := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, e := range c {
			m[k] = clone(e)
		}
		return m
	case []any:
		a := make([]any, len(c))
		for i, e := range c {
			a[i] = clone(e)
		}
		return a
	}
	return v
}

func readBadCases(t testing.TB) []badCase {
	t.Helper()
	data, err := os.ReadFile(badCases)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var cases []badCase
	if err := dec.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}
