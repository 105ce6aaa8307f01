package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hwcal/profiles"
	"hwcal/schema"
)

// A GPU that cannot be opened, as one that is hidden from the driver, costs the others nothing, and the profile is
// valid. If none can, there is no profile.
func TestUnmeasuredDevices(t *testing.T) {
	p, err := profiles.Load("../testdata/golden/scripted-gpu.json")
	if err != nil {
		t.Fatal(err)
	}
	d := p.Devices[0]
	hidden := schema.Device{ID: "cuda1", Kind: d.Kind, Name: d.Name, GPU: d.GPU, Power: d.Power, Unavailable: slices.Clone(d.Unavailable[:2])}
	p.Devices = []schema.Device{hidden, d}
	p.Devices[0].ID, p.Devices[1].ID = "cuda0", "cuda1"
	p.Metadata.Fingerprint = schema.Fingerprint(p.Devices)
	p.Warnings = nil
	hides := func(n int) func(int, *schema.Device) ([]schema.Warning, error) {
		return func(i int, _ *schema.Device) ([]schema.Warning, error) {
			if i < n {
				return nil, unmeasured{errors.New("hidden")}
			}
			return nil, nil
		}
	}
	if _, err := measureAll(p, hides(1)); err != nil {
		t.Fatal(err)
	}
	if n := len(p.Warnings); n != 1 || p.Warnings[0].Path != "/devices/0" || p.Warnings[0].Message != "hidden" {
		t.Errorf("warnings %+v", p.Warnings)
	}
	data, err := profiles.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range profiles.Validate(data) {
		t.Error(f)
	}
	if _, err := measureAll(p, hides(2)); err == nil || !strings.Contains(err.Error(), "hidden") {
		t.Errorf("no device can be measured: %v", err)
	}
}
