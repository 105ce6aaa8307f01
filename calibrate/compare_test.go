package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hwcal/profiles"
	"hwcal/schema"
)

// TestPrintDifferences: by default what changed, with all every figure, on lines
// that fit a page, and nothing of a profile unquoted.
func TestPrintDifferences(t *testing.T) {
	old, new := golden(t), golden(t)
	d := &new.Devices[0]
	b := &d.Bandwidth[8].GBps
	b.Best, b.CILow, b.CIHigh = b.Best/2, b.CILow/2, b.CIHigh/2
	f := &d.FusionProfiles[0]
	f.Speedup, f.SpeedupCILow, f.SpeedupCIHigh, f.Verdict = 0.9, 0.89, 0.91, schema.Avoid
	d.Latency = d.Latency[:3]
	d.FusionProfiles[1].Pattern = "\x1b[2J" + strings.Repeat("A", 5000)

	text := func(all bool) string {
		c := profiles.Compare(old, new)
		var out strings.Builder
		if err := printDifferences(&out, old, new, &c, all); err != nil {
			t.Fatal(err)
		}
		for l := range strings.SplitSeq(out.String(), "\n") {
			if n := utf8.RuneCountInString(l); n > widest {
				t.Errorf("%d columns: %s", n, l)
			}
		}
		return out.String()
	}
	short, long := text(false), text(true)
	for _, want := range []string{
		"GB/s  -50.0%  worse ", "worse, fuse -> avoid  regression (flip)", "\nOnly in old\n", " DRAM latency, 2 MiB pages", "\nOnly in new\n",
		"30 compared: 28 same, 0 within noise, 0 noisy, 0 better, 2 worse\n1 verdict change, 1 flip, 4 only in old, 3 only in new, 2 regressions\n",
		"\nmedian |change|: peak 0.0%, matmul 0.0%, bandwidth 0.0%; over all of these the two runs agree within 0.0%\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in\n%s", want, short)
		}
	}
	const unchanged = "peak_fma fp32, 2 threads"
	if strings.Contains(short, unchanged) || !strings.Contains(long, unchanged) {
		t.Errorf("unchanged figures stand in\n%s\nor not in\n%s", short, long)
	}
	if strings.Contains(long, "\x1b") {
		t.Error("a control character is printed")
	}
	if strings.Contains(short, "cpu0 ") {
		t.Errorf("the only device is named in\n%s", short)
	}
	old.Devices = append(old.Devices, schema.Device{ID: "cuda0"})
	if got := text(false); !strings.Contains(got, "\n cpu0 DRAM triad_nt") {
		t.Errorf("the device is not named in\n%s", got)
	}
}

func TestPrintDifferencesFails(t *testing.T) {
	if err := printDifferences(broken{}, golden(t), golden(t), &profiles.Comparison{}, false); err == nil {
		t.Error("a failed write is no error")
	}
}

func TestChange(t *testing.T) {
	for share, want := range map[float64]string{0: "+0.0%", 0.0314: "+3.1%", -0.5: "-50.0%", 1e300: "+1e+302%", -150: "-1.5e+04%"} {
		if got := change(share); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}
