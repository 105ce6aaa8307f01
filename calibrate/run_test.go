package main

import (
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"hwcal/schema"
)

// TestFlagsOfCPU: what is told of a CPU that is not measured is refused, not dropped.
func TestFlagsOfCPU(t *testing.T) {
	set := flag.NewFlagSet("run", flag.ContinueOnError)
	set.String("device", "cuda", "")
	set.Int("threads", 0, "")
	set.Float64("peak-gflops", 0, "")
	if err := set.Parse([]string{"--peak-gflops", "1000"}); err != nil {
		t.Fatal(err)
	}
	c := cli.NewContext(nil, set, nil)
	gpu, cpu := schema.Device{Kind: schema.GPU}, schema.Device{Kind: schema.CPU}
	err := ofCPU(c, []schema.Device{gpu}, "threads", "peak-gflops")
	if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--peak-gflops is of the CPU, which --device cuda leaves out") {
		t.Errorf("%v", err)
	}
	for _, err := range []error{ofCPU(c, []schema.Device{gpu}, "threads"), ofCPU(c, []schema.Device{cpu, gpu}, "threads", "peak-gflops")} {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestToolVersion: builds that were told no version have one of their own, and the same each time.
func TestToolVersion(t *testing.T) {
	one := toolVersion()
	if !regexp.MustCompile(`^`+regexp.QuoteMeta(unreleased)+`\+[0-9a-f]{12}$`).MatchString(one) || toolVersion() != one {
		t.Errorf("%s, then %s", one, toolVersion())
	}
	version = "1.2.3"
	defer func() { version = "" }()
	if got := toolVersion(); got != version {
		t.Errorf("%s, want %s", got, version)
	}
}

// TestStrict: a gate must not take for success what is wrong, or not there.
func TestStrict(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(p *schema.Profile)
	}{
		{"", func(*schema.Profile) {}},
		{"", func(p *schema.Profile) {
			p.Warnings = []schema.Warning{{Code: schema.NoisyHost}, {Code: schema.BudgetSpent}}
		}},
		{"/devices/0 failed: x", func(p *schema.Profile) {
			p.Warnings = []schema.Warning{{Code: schema.Failed, Path: "/devices/0", Message: "x"}}
		}},
		{"implausible", func(p *schema.Profile) { p.Warnings = []schema.Warning{{Code: schema.Implausible}} }},
		{"mismatch", func(p *schema.Profile) { p.Warnings = []schema.Warning{{Code: schema.Mismatch}} }},
		{"device_lost", func(p *schema.Profile) { p.Warnings = []schema.Warning{{Code: schema.DeviceLost}} }},
		{"nothing was measured of cpu0", func(p *schema.Profile) { p.Devices[0] = schema.Device{ID: "cpu0"} }},
		{"is inconclusive", func(p *schema.Profile) { p.Devices[0].FusionProfiles[0].Verdict = schema.Inconclusive }},
	} {
		p := golden(t)
		p.Warnings = nil
		for i := range p.Devices[0].FusionProfiles {
			p.Devices[0].FusionProfiles[i].Verdict = schema.Fuse
		}
		test.change(p)
		err := strict(p)
		if (err != nil) != (test.want != "") || err != nil && (exitCode(err) != exitStrict || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
