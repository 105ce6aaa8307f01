package cuda

import (
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// Every accumulator ends at 2, on every unit.
func TestPeaks(t *testing.T) {
	for c, wgmma := range map[Capability]int{{8, 9}: 0, {9, 0}: 1} {
		units := verifyPeaks(t, newEmulated(t, c))
		for d, want := range map[schema.DType]int{schema.FP64: 2, schema.FP32: 1, schema.TF32: 1 + wgmma, schema.FP16: 1 + wgmma, schema.BF16: 1 + wgmma, schema.FP8: 1, schema.INT8: 1 + wgmma} {
			if units[d] != want {
				t.Errorf("%s has %d units on %s, want %d", d, units[d], c, want)
			}
		}
	}
}

// verifyPeaks tells how many units each type has.
func verifyPeaks(t *testing.T, b *Backend) map[schema.DType]int {
	t.Helper()
	units := map[schema.DType]int{}
	for _, k := range b.Kernels() {
		if k.Chain != "peak_fma" {
			continue
		}
		units[k.DType]++
		verify := func(rounds int64) {
			c := bench.Case{Chain: bench.Chain{bench.PeakFMA(rounds, 1)}, DType: k.DType, Unit: k.Implementation, Seed: 7}
			if _, err := bench.Verify(b, c); err != nil {
				t.Errorf("%s on %s, %d rounds: %v", k.DType, k.Implementation, rounds, err)
			}
		}
		if k.Implementation == "fma" {
			verify(64 * int64(b.sms)) // so many steps on each SM, until all sums are 2
			continue
		}
		verify(4)                                        // pairs that all change the sums
		many := 5 * rowBytes / element.Of(k.DType).Bytes // 300 pairs of one SM, of which the first do not
		if k.Implementation == "wgmma" {
			many *= 4 // its tiles are larger
		}
		sms := b.sms
		b.sms = 1
		verify(many)
		b.sms = sms
	}
	return units
}

// A Hopper has its warpgroups' products before the others; what came after it has not. In fp8 it has these alone, as
// mma.sync is products in fp16 there. Those of 10 have products by which nothing is measured.
func TestPeakUnits(t *testing.T) {
	for c, want := range map[Capability][2]string{
		{8, 0}: {"mma", ""}, {8, 9}: {"mma", "mma"}, {9, 0}: {"wgmma mma", "wgmma"}, {10, 0}: {"", ""}, {12, 0}: {"mma", "mma"},
	} {
		b := newEmulated(t, c)
		for i, d := range []schema.DType{schema.BF16, schema.FP8} {
			if have := strings.Join(b.Implementations("peak_fma", d), " "); have != want[i] {
				t.Errorf("%s: %s on %q, want %q", c, d, have, want[i])
			}
		}
	}
}
