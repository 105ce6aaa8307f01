package profiles

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzLoad: whatever the text, loading and validating neither panic nor
// disagree, positions lie in the text, and what is valid survives being
// written and read again.
func FuzzLoad(f *testing.F) {
	data := golden(f)
	f.Add(data)
	files, err := filepath.Glob(badTexts + "/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for i, c := range readBadCases(f) {
		if i%4 == 0 { // enough to start from, and quick as a plain test
			f.Add(apply(f, data, c.Patch))
		}
	}
	f.Add([]byte(strings.Repeat("[", 65)))
	f.Add([]byte(strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64)))
	f.Add([]byte(`{"a":{"a":1,"\u0061":2}}`))
	f.Add([]byte(`{"a":"\ud800","b":-0.0e-0}`))

	names := Rules()
	f.Fuzz(func(t *testing.T, data []byte) {
		findings := validateAt(data, now)
		p, err := Parse(data)
		var invalid *InvalidError
		switch {
		case err == nil && p == nil, err != nil && p != nil:
			t.Fatalf("Parse = %v, %v", p, err)
		case err != nil && !errors.As(err, &invalid):
			t.Fatalf("error of type %T: %v", err, err)
		case err != nil && len(findings) == 0:
			t.Fatalf("valid, and cannot be loaded: %v", err)
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, f := range findings {
			if !slices.Contains(names, f.Rule) || f.Message == "" || f.Line < 1 || f.Line > lines || f.Column < 1 {
				t.Fatalf("finding %+v in %d lines", f, lines)
			}
		}
		for _, format := range Formats() {
			if err := WriteReports(io.Discard, format, []Report{{File: "f", Findings: findings}}); err != nil {
				t.Fatal(err)
			}
		}
		if p == nil {
			return
		}
		again, err := Marshal(p)
		if err != nil {
			t.Fatalf("loaded, and cannot be written: %v", err)
		}
		q, err := Parse(again)
		if err != nil {
			t.Fatalf("written, and cannot be loaded: %v", err)
		}
		twice, err := Marshal(q)
		if err != nil || !bytes.Equal(again, twice) {
			t.Fatalf("written twice, and different: %v", err)
		}
	})
}
