package profiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	p, err := Load(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Devices[0].FusionProfiles[0].Pattern; got != "Linear_Bias_ReLU" {
		t.Errorf("pattern %q", got)
	}
	q, err := Parse(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, q); diff != "" {
		t.Errorf("Load and Parse differ:\n%s", diff)
	}
}

func TestLoadStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	for _, c := range []struct{ file, want string }{
		{goldenFile, ""},
		{filepath.Join(badTexts, "trailing.json"), "profiles: standard input:2:1: invalid character"},
	} {
		f, err := os.Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		os.Stdin = f
		_, err = Load("-")
		if c.want == "" && err != nil {
			t.Error(err)
		}
		if c.want != "" {
			wantError(t, err, c.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir)
	wantError(t, err, dir, "is a directory")
	missing := filepath.Join(dir, "missing.json")
	_, err = Load(missing)
	wantError(t, err, missing)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}
	_, err = ValidateFile(missing)
	wantError(t, err, missing)

	// A sparse file takes no space, and would take all memory.
	huge := filepath.Join(dir, "huge.json")
	f, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skipf("huge file: %v", err)
	}
	_, err = Load(huge)
	wantError(t, err, huge, "larger than 64 MiB")

	if findings := Validate(make([]byte, MaxBytes+1)); len(findings) != 1 || findings[0].Rule != ruleLimit {
		t.Errorf("text above the limit: %v", findings)
	}
}

// TestLoadNeedsNoConsistency: loading asks for the schema alone, so that a
// profile whose figures disagree can still be shown and compared.
func TestLoadNeedsNoConsistency(t *testing.T) {
	text := strings.Replace(string(golden(t)), `"verdict": "avoid"`, `"verdict": "fuse"`, 1)
	if _, err := Parse([]byte(text)); err != nil {
		t.Error(err)
	}
	if len(validateAt([]byte(text), now)) != 1 {
		t.Error("and validation finds it")
	}
}

func TestLoadNewerVersion(t *testing.T) {
	text := strings.Replace(string(golden(t)), `"schema_version": "1.0.0"`, `"schema_version": "2.0.0"`, 1)
	_, err := Parse([]byte(text))
	wantError(t, err, "schema_version 2.0.0 is newer than 1.0.0, which this version reads; update calibrate")
	var invalid *InvalidError
	if !errors.As(err, &invalid) || invalid.Findings[0].Rule != ruleVersion || invalid.Findings[0].Line != 3 {
		t.Errorf("%#v", err)
	}
}

func TestPosition(t *testing.T) {
	data := []byte("ab\né\r\nx")
	for off, want := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 2}} {
		line, column := position(data, off)
		if got := [2]int{line, column}; got != want {
			t.Errorf("position(%d) = %v, want %v", off, got, want)
		}
	}
}

// TestFindPointer: every value is found by its pointer, where it stands.
func TestFindPointer(t *testing.T) {
	doc, f := parse([]byte(`{"a": [1, {"b/c": 2, "~": 3, "": 4}], "01": 5}`))
	if f != nil {
		t.Fatal(f)
	}
	for _, c := range []struct {
		pointer string
		off     int
		ok      bool
	}{
		{"", 0, true}, {"/a", 1, true}, {"/a/0", 7, true}, {"/a/1", 10, true}, {"/a/1/b~1c", 11, true},
		{"/a/1/~0", 21, true}, {"/a/1/", 29, true}, {"/01", 38, true},
		{"/a/2", 1, false}, {"/a/00", 1, false}, {"/a/-1", 1, false}, {"/a/-", 1, false}, {"/a/0/x", 7, false},
		{"a", 0, false}, {"/", 0, false}, {"/b", 0, false},
	} {
		if off, ok := doc.find(c.pointer); off != c.off || ok != c.ok {
			t.Errorf("find(%q) = %d, %t, want %d, %t", c.pointer, off, ok, c.off, c.ok)
		}
	}
}
