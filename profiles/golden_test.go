package profiles

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

const goldenFile = "../testdata/golden/profile.json"

var update = flag.Bool("update", false, "rewrite the golden profile's fingerprint and form, and the wanted messages of the bad ones")

// now is when the tests run: figures must not depend on the day.
var now = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGoldenIsValid(t *testing.T) {
	if *update {
		p, err := Load(goldenFile)
		if err != nil {
			t.Fatal(err)
		}
		p.Metadata.Fingerprint = schema.Fingerprint(p.Devices)
		if err := Save(goldenFile, p); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range validateAt(golden(t), now) {
		t.Errorf("%d:%d: %s [%s]", f.Line, f.Column, f, f.Rule)
	}
}

// TestScriptedIsValid: what the calibrator writes for scripted machines follows
// every rule.
func TestScriptedIsValid(t *testing.T) {
	for _, name := range []string{"scripted", "scripted-numa", "scripted-crossover", "scripted-interrupted", "scripted-gpu"} {
		data, err := os.ReadFile("../testdata/golden/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range validateAt(data, now) {
			t.Errorf("%s:%d:%d: %s [%s]", name, f.Line, f.Column, f, f.Rule)
		}
	}
}

// TestGoldenRoundTrip: reading and writing changes nothing, so that a profile
// can be put under version control.
func TestGoldenRoundTrip(t *testing.T) {
	data := golden(t)
	p, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(again)); diff != "" {
		t.Errorf("(-file +written):\n%s", diff)
	}
}

// TestReferenceProfiles: the profiles of real machines beside the code are valid.
func TestReferenceProfiles(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d reference profiles: %v", len(files), files)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			findings, err := ValidateFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				t.Errorf("%d:%d: %s [%s]", f.Line, f.Column, f, f.Rule)
			}
		})
	}
}
