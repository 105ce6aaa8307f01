package profiles

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// TestVariantsAreValid: what is unusual and right. A rule that finds fault with
// a true profile costs more trust than one that misses a wrong one.
func TestVariantsAreValid(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden/variants.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []badCase
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range validateAt(apply(t, golden(t), c.Patch), now) {
				t.Errorf("%s [%s]", f, f.Rule)
			}
		})
	}
}
