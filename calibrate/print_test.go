package main

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hwcal/profiles"
	"hwcal/schema"
)

var update = flag.Bool("update", false, "rewrite testdata/golden/profile.txt from profile.json")

func golden(t *testing.T) *schema.Profile {
	t.Helper()
	p, err := profiles.Load("../testdata/golden/profile.json")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// printed is what a person sees of a profile; no line is wider than a page.
func printed(t *testing.T, p *schema.Profile) string {
	t.Helper()
	var b strings.Builder
	if err := printProfile(&b, p); err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(b.String(), "\n") {
		if n := utf8.RuneCountInString(l); n > widest {
			t.Errorf("%d columns: %s", n, l)
		}
	}
	return b.String()
}

// TestNarrowPage: tables of many like columns are cut into parts that fit a terminal of 80 columns.
func TestNarrowPage(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	for bytes := int64(16 << 10); bytes < 1<<30; bytes += bytes / 2 {
		d.Bandwidth = append(d.Bandwidth, schema.Bandwidth{Level: schema.DRAM, Pattern: "read", Threads: 1, WorkingSetBytes: bytes, GBps: schema.Stat{Best: 12.34}})
	}
	out := &page{width: 80}
	out.matmuls(d)
	out.bandwidth(d)
	out.bandwidthCurve(d)
	for l := range strings.SplitSeq(out.String(), "\n") {
		if n := utf8.RuneCountInString(l); n > out.width {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}

func TestPrintGolden(t *testing.T) {
	const file = "../testdata/golden/profile.txt"
	got := printed(t, golden(t))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the meters counted stands beside the idle power: of each operation and type the fastest on all threads that was metered.
func TestPrintPower(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	meters := []string{"package-0"}
	d.Power = schema.Power{
		Meters: []schema.PowerMeter{{Name: meters[0], Source: "powercap", Readable: true}},
		Idle:   &schema.Idle{WindowSeconds: 1, Meters: meters, AvgWatts: 12.34, Celsius: 40},
	}
	for i := range d.Compute {
		c := &d.Compute[i]
		if c.DType == schema.FP64 && isMatmul(c) {
			continue // too short
		}
		c.Energy = &schema.Energy{
			WindowSeconds: 0.5, Executions: 10, Meters: meters, Joules: 10 * float64(c.Threads), AvgWatts: 20 * float64(c.Threads),
			MaxWatts: 50, OpsPerWatt: 1, GFLOPSPerWatt: c.GFLOPS.Median / 40, Celsius: 65,
		}
	}
	slower := d.Compute[slices.IndexFunc(d.Compute, func(c schema.Compute) bool { return isMatmul(&c) && c.Threads == 2 })]
	slower.InputShape, slower.GFLOPS = []int64{512, 512, 512}, &schema.Stat{Best: 1}
	d.Compute = append(d.Compute, slower)
	const want = `
Power meters
 package-0  powercap, readable
 idle       12.34 W, at 40 °C

Power of the fastest peak and matmul, 2 threads, idle power included
 operation  dtype  shape           watts   most  GFLOPS/W  joules    in s  °C
──────────────────────────────────────────────────────────────────────────────
 peak_fma   fp64                   40.00  50.00     3.048   20.00  0.5000  65
 peak_fma   fp32                   40.00  50.00     6.102   20.00  0.5000  65
 matmul     fp32   1024x1024x1024  40.00  50.00     5.465   20.00  0.5000  65

Fused against unfused
`
	if got := printed(t, p); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// TestPrintCrowded prints more of everything than a run gives.
func TestPrintCrowded(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	d.CPU.UsedCPUs = nil
	for i := range 256 {
		d.CPU.UsedCPUs = append(d.CPU.UsedCPUs, 2*i)
	}
	for _, threads := range []int{1, 8, 64, 256} {
		for _, level := range []schema.Level{schema.L1, schema.L2, schema.L3, schema.L4, schema.HBM, schema.DRAM} {
			b := d.Bandwidth[0]
			b.Level, b.Threads, b.Pattern = level, threads, "copy_nt4"
			b.GBps.Best, b.Warnings = 12345.6, []schema.Code{schema.Implausible}
			d.Bandwidth = append(d.Bandwidth, b)
		}
	}
	for _, c := range slices.Clone(d.Compute) {
		if c.Operation != "matmul" {
			continue
		}
		c.GFLOPS = &schema.Stat{Best: 123456}
		packed, wide := c, c
		packed.Operation = "matmul_packed"
		wide.Threads = 256
		d.Compute = append(d.Compute, packed, wide)
	}
	for i := range 2 {
		d.NUMA = append(d.NUMA, schema.NUMAPath{Node: 0, MemoryNode: i, Threads: 128, GBps: d.Bandwidth[0].GBps, Nanoseconds: d.Latency[0].Nanoseconds})
	}
	f := d.FusionProfiles[0]
	f.Pattern, f.InputShape, f.DType = "Conv2d_BatchNorm_ReLU", []int64{1, 128, 56, 56, 128, 3, 1, 1, 128}, schema.FP64
	f.Verdict, f.Warnings = schema.Inconclusive, []schema.Code{schema.NoisyHost}
	d.FusionProfiles = append(d.FusionProfiles, f)
	x := d.FusionCrossovers[0]
	x.Pattern, x.Reason = "Conv2d_BatchNorm_ReLU", strings.Repeat("fuse from m=1 to m=64, ", 20)
	d.FusionCrossovers = append(d.FusionCrossovers, x)
	for range 40 {
		d.Unavailable = append(d.Unavailable, schema.Unavailable{What: "Conv2d_BatchNorm_ReLU fp64 " + strings.Repeat("x", 100), Reason: "budget spent"})
		p.Warnings = append(p.Warnings, schema.Warning{Code: schema.NoisyHost, Path: "/devices/0/compute/1", Message: strings.Repeat("a neighbour ", 20)})
	}
	all := schema.Code("theoretical_peak_below_measured")
	for i := range d.Compute {
		d.Compute[i].Warnings = []schema.Code{all, schema.NoisyHost, schema.Throttled}
	}
	got := printed(t, p)
	for _, want := range []string{
		"12346!", " ! no rate of the level as it stands",
		"inconclusive!", "Inconclusive\n Conv2d_BatchNorm_ReLU fp64 1x128x56x56x128x3x1x1x128, 2 threads: unfused ",
		"budget spent (40): ", "; and 36 more", "noisy_host (41)", "and 37 more in the profile", "256 threads",
		"Matmul 1024x1024x1024 over threads", " 256      123456  91%!", " node 0    node 1     128 ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestGroupNames: a group may have a name of any length over columns of any width.
func TestGroupNames(t *testing.T) {
	for length := range 40 {
		for width := range 12 {
			for count := 1; count <= 3; count++ {
				name := strings.Repeat("g", length)
				g := newGrid(words("row"))
				g.groups = []string{""}
				cells := []any{"1"}
				for range count {
					g.columns, g.groups = append(g.columns, numbers("")), append(g.groups, name)
					cells = append(cells, strings.Repeat("9", width))
				}
				g.row(cells...)
				p := &page{width: 80}
				p.grid(g)
				if got := p.String(); !strings.Contains(got, name) {
					t.Errorf("%d columns of %d have lost %q:\n%s", count, width, name, got)
				}
			}
		}
	}
}

// TestPrintHostile: nothing of a profile reaches the terminal unquoted, and no
// text of it fills the screen.
func TestPrintHostile(t *testing.T) {
	p := golden(t)
	evil := "\x1b[2J\x07\u202e\r\nroot# " + strings.Repeat("A", 5000)
	p.Metadata.HardwareName, p.Metadata.ToolVersion = evil, evil
	d := &p.Devices[0]
	d.Name = evil
	d.Compute[0].Implementation = evil
	d.Bandwidth[0].Pattern = evil
	d.FusionProfiles[0].Pattern = evil
	d.FusionCrossovers[0].Pattern, d.FusionCrossovers[0].Reason = evil, evil
	d.OperationProfiles[0].Operation = evil
	d.Unavailable = append(d.Unavailable, schema.Unavailable{What: evil, Reason: evil})
	p.Warnings = []schema.Warning{
		{Code: schema.Code(evil), Path: evil, Message: evil},
		{Code: schema.Failed, Path: "/devices/0/compute/999999999999999999999", Message: "-"},
		{Code: schema.Failed, Path: "/devices/-1/compute/0", Message: "-"},
		{Code: schema.Failed, Path: "/devices/0/compute/-1", Message: "-"},
		{Code: schema.Failed, Path: "/devices/0/compute/99", Message: "-"},
		{Code: schema.Failed, Path: "/devices/0/fusion_crossovers/0/points/99", Message: "-"},
		{Code: schema.Failed, Path: "/devices/0/fusion_crossovers/99/points/0", Message: "-"},
	}
	var b strings.Builder
	if err := printProfile(&b, p); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e') }); i >= 0 {
		t.Errorf("a control character is printed: %q", got[i:min(i+40, len(got))])
	}
	if len(got) > 200<<10 {
		t.Errorf("%d bytes are printed", len(got))
	}
}

// TestPrintEmpty: a device that nothing was measured on has no empty tables.
func TestPrintEmpty(t *testing.T) {
	p := golden(t)
	p.Warnings = nil
	p.Devices = []schema.Device{{ID: "cuda0", Kind: schema.GPU, Name: "Example GPU", GPU: &schema.GPUInfo{MemoryBytes: 80 << 30}}}
	got := strings.Split(printed(t, p), "\n")
	if want := []string{"", "cuda0: Example GPU, 80 GiB", ""}; !slices.Equal(got[2:], want) {
		t.Errorf("got %q, want %q", got[2:], want)
	}
}

func TestPrintFails(t *testing.T) {
	if err := printProfile(broken{}, golden(t)); err == nil {
		t.Error("a failed write is no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFits: words give way, the widest first, until the table is as narrow as the terminal; names break behind their parts.
func TestFits(t *testing.T) {
	g := newGrid(words("kernel"), words("shape"), numbers("best"))
	g.row("peak_fp64_16x8_avx512", "4x128x28x28x128", "1234567.8")
	p := &page{width: 35}
	p.grid(g)
	want := []string{"peak_fp64_", "16x8_", "avx512", "4x128x28x", "28x128", "1234567.8"}
	got := p.String()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > p.width {
			t.Errorf("%d characters in %q", n, line)
		}
	}
}
