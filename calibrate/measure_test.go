package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hwcal/bench"
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

// Of an interrupted profile a device that was whole is taken as it is, with its warnings; one of which nothing was
// measured begins anew.
func TestResumeOfSeveralDevices(t *testing.T) {
	part, err := profiles.Load("../testdata/golden/scripted-interrupted.json")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := profiles.Load("../testdata/golden/scripted-gpu.json")
	if err != nil {
		t.Fatal(err)
	}
	none := schema.Device{Unavailable: []schema.Unavailable{{What: schema.Measurements, Reason: "hidden"}}}
	old := &schema.Profile{
		Devices:  []schema.Device{whole.Devices[0], part.Devices[0], none},
		Warnings: []schema.Warning{{Code: schema.NoisyHost, Path: "/devices/0/compute/1"}, {Code: schema.Interrupted, Path: "/devices/1"}},
	}
	if e := earlier(old, 2); e != nil {
		t.Errorf("%+v of a device of which nothing was measured", e)
	}
	if e := earlier(old, 1); e == nil || e.Device.Resume == nil {
		t.Errorf("%+v of the interrupted device", e)
	}
	var dev schema.Device
	warnings, err := measure(context.Background(), &dev, bench.Options{Resume: earlier(old, 0)})
	if err != nil || len(warnings) != 1 || warnings[0].Path != "/compute/1" || len(dev.Compute) != len(whole.Devices[0].Compute) {
		t.Errorf("%v, %d entries, warnings %+v", err, len(dev.Compute), warnings)
	}
}

// A device that cannot be resumed costs those before it nothing: the profile stays interrupted. If it is the first, nothing is
// measured.
func TestResumeRefused(t *testing.T) {
	for refused, want := range map[int]bool{0: false, 1: true} {
		p := &schema.Profile{Devices: make([]schema.Device, 3), Metadata: schema.Metadata{Mode: schema.Full}}
		tried := 0
		interrupted, err := measureAll(p, func(i int, _ *schema.Device) ([]schema.Warning, error) {
			tried++
			if i == refused {
				return []schema.Warning{{Code: schema.Interrupted}}, bench.ErrResume
			}
			return nil, nil
		})
		if !errors.Is(err, bench.ErrResume) || interrupted != want || (tried == 3) != want || (len(p.Warnings) == 1) != want {
			t.Errorf("device %d: %v, interrupted %t, %d tried, warnings %+v", refused, err, interrupted, tried, p.Warnings)
		}
	}
}

// A run on other CPUs, under another name or with other peaks is another one, as whole devices are taken as they were
// measured.
func TestResumeOfAnotherRun(t *testing.T) {
	const file = "../testdata/golden/scripted-interrupted.json"
	for want, change := range map[string]func(p *schema.Profile){
		"":            func(*schema.Profile) {},
		"999":         func(p *schema.Profile) { p.Host.AllowedCPUs = append(p.Host.AllowedCPUs, 999) },
		`not "other"`: func(p *schema.Profile) { p.Metadata.HardwareName = "other" },
		"--peak-bandwidth": func(p *schema.Profile) {
			p.Devices[0].Theoretical.BandwidthGBps = &schema.Peak{Value: 50, Source: "--peak-bandwidth"}
		},
	} {
		p, err := profiles.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		p.Devices[0].Theoretical.PeakGFLOPS = map[schema.DType]schema.Peak{}
		change(p)
		if _, err := loadInterrupted(file, p); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
