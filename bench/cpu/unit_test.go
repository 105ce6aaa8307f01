package cpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"hwcal/bench"
	"hwcal/schema"
)

// Vectors multiply few rows where there are tiles, unless a case names its unit.
func TestUnitForFewRows(t *testing.T) {
	vector := unit{name: "vector", gemm: narrowKernels{mr: 14, anyRows: true, group: 4}}
	tiles := unit{name: "tiles", gemm: narrowKernels{mr: 32, sparesL1: true, group: 4}}
	for _, c := range []struct {
		rows   int
		packed bool
		vector *unit
		want   string
	}{
		{8, true, &vector, "vector"},
		{9, true, &vector, "tiles"},
		{14, false, &vector, "vector"},
		{15, false, &vector, "tiles"},
		{1, true, nil, "tiles"},
	} {
		ws := &workspace{unit: tiles, vector: c.vector}
		if u := ws.unitFor(c.rows, c.packed); u.name != c.want {
			t.Errorf("%d rows, packed %t: %s, want %s", c.rows, c.packed, u.name, c.want)
		}
	}
	if v := vectorUnit([]unit{tiles, vector}, tiles); v == nil || v.name != "vector" {
		t.Errorf("beside tiles: %v", v)
	}
	if v := vectorUnit([]unit{vector}, vector); v != nil {
		t.Errorf("beside vectors: %s", v.name)
	}
}

// What this process cannot use is left out, with its reason.
func TestUsableUnits(t *testing.T) {
	defer func(all []unit) { units = all }(units)
	none := []cpuid.FeatureID{cpuid.XOP, cpuid.AVX512F} // AMD had dropped the one before it got the other
	units = []unit{
		{name: "a", title: "A", dtype: schema.BF16, isa: AVX512, needs: none},
		{name: "b", title: "B", dtype: schema.BF16, isa: AVX512, needs: none},
		{name: "c", title: "C", dtype: schema.INT8, isa: AVX512},
		{name: "d", title: "D", dtype: schema.INT8, isa: AVX2},
		{name: "e", title: "E", dtype: schema.FP16, isa: AMX},
	}
	for _, c := range []struct {
		dtype        schema.DType
		limit        ISA
		want, reason string
	}{
		{schema.BF16, "", "", "the CPU has neither A nor B"},
		{schema.INT8, "", "c", ""},
		{schema.INT8, AMX, "c", ""},
		{schema.INT8, AVX512, "c", ""},
		{schema.INT8, AVX2, "d", "HWCAL_ISA leaves out C"},
		{schema.INT8, Portable, "", "HWCAL_ISA leaves out C; HWCAL_ISA leaves out D"},
		{schema.FP16, AVX512, "", "HWCAL_ISA leaves out E"},
		{schema.TF32, "", "", "this version has no kernels in tf32"},
	} {
		t.Setenv("HWCAL_ISA", string(c.limit))
		usable, reason := usableUnits(c.dtype)
		var names []string
		for _, u := range usable {
			names = append(names, u.name)
		}
		if got := strings.Join(names, " "); got != c.want || !strings.HasPrefix(reason, c.reason) {
			t.Errorf("%s, HWCAL_ISA=%q: %q, %q; want %q, %q", c.dtype, c.limit, got, reason, c.want, c.reason)
		}
	}
	t.Setenv("HWCAL_ISA", "")
	if usable, reason := usableUnits(schema.FP16); len(usable) == 0 && reason != amxRefused() || len(usable) > 0 && amxRefused() != "" {
		t.Errorf("AMX: %d units, %q", len(usable), reason)
	}
}

// The backend lists, opens and bounds what its units can, and nothing else.
func TestUnitsOfBackend(t *testing.T) {
	b := testBackend(t, "")
	b.units = map[schema.DType][]unit{schema.INT8: {
		{name: "fast", flopPerCycle: 100}, {name: "slow", flopPerCycle: 10},
	}}
	var peaks []string
	for _, k := range b.Kernels() {
		if k.DType == schema.INT8 && k.Chain == "peak_fma" {
			peaks = append(peaks, k.Implementation)
		}
	}
	if got := strings.Join(peaks, " "); got != "fast slow" {
		t.Errorf("kernels of the peak: %s", got)
	}
	if got := b.Limit(schema.INT8, bench.Place{Threads: 2}).FLOPPerCycle; got != 200 {
		t.Errorf("limit %g, want 200", got)
	}
	for d, supported := range map[schema.DType]bool{schema.FP64: true, schema.FP32: true, schema.INT8: true, schema.TF32: false} {
		if got := b.Unsupported(d) == ""; got != supported {
			t.Errorf("%s: %q", d, b.Unsupported(d))
		}
	}
	c := bench.Case{Chain: bench.Chain{bench.PeakFMA(1, 1)}, DType: schema.INT8, Unit: "other", Place: bench.Place{Threads: 1}}
	if _, err := b.Open(c); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("an unknown unit: %v, want unsupported", err)
	}
}
