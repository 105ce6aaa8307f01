package bench

import (
	"slices"
	"testing"

	"hwcal/schema"
)

// Undisturbed samples count alone, unless disturbed ones are faster: then those seemed undisturbed only. What workers
// do that are apart refutes nothing.
func TestPool(t *testing.T) {
	calm, noisy, apart := []schema.Code(nil), []schema.Code{schema.NoisyHost}, []schema.Code{schema.WorkersApart}
	for _, c := range []struct {
		name          string
		first, second []schema.Code
		seconds       [2]float64
		want          []float64
		warned        bool
	}{
		{"both calm", calm, calm, [2]float64{2, 3}, []float64{2, 3}, false},
		{"both noisy", noisy, noisy, [2]float64{2, 3}, []float64{2, 3}, true},
		{"calm before noisy", calm, noisy, [2]float64{2, 3}, []float64{2}, false},
		{"calm after noisy", noisy, calm, [2]float64{3, 2}, []float64{2}, false},
		{"a little slower", calm, noisy, [2]float64{2, 1.95}, []float64{2}, false},
		{"refuted by a noisy one", calm, noisy, [2]float64{2, 1}, []float64{2, 1}, true},
		{"refuted before", noisy, calm, [2]float64{1, 2}, []float64{1, 2}, true},
		{"faster apart", calm, apart, [2]float64{2, 1}, []float64{2}, false},
	} {
		measured := func(seconds float64, warnings []schema.Code) computed {
			m := Measurement{Seconds: []float64{seconds}}
			for _, code := range warnings {
				m.warn(code, "by someone")
			}
			return computed{operation: "matmul", Measurement: m}
		}
		var calibrator Calibrator
		calibrator.pool(measured(c.seconds[0], c.first))
		calibrator.pool(measured(c.seconds[1], c.second))
		got := calibrator.computed[0]
		if !slices.Equal(got.Seconds, c.want) || slices.Contains(got.Warnings, schema.NoisyHost) != c.warned {
			t.Errorf("%s: %v, warnings %v", c.name, got.Seconds, got.Warnings)
		}
	}
}

// A library may choose another kernel at another time, and only the first time is metered: the energy stays, unless the
// other kernel is faster beyond what the clock may move.
func TestEnergyOfTwoKernels(t *testing.T) {
	for faster, want := range map[float64]string{0.99: "first", 1.01: "first", 1.1: "second"} {
		var c Calibrator
		c.pool(computed{operation: "matmul", Measurement: Measurement{Implementation: "first", Seconds: []float64{1}, Energy: &Energy{}}})
		c.pool(computed{operation: "matmul", Measurement: Measurement{Implementation: "second", Seconds: []float64{1 / faster}}})
		if got := c.computed[0]; got.Implementation != want || (got.Energy != nil) != (want == "first") {
			t.Errorf("%g times as fast: the %s, energy %v", faster, got.Implementation, got.Energy)
		}
	}
}

// Of two bandwidths of a working set the undisturbed one counts, unless the other is faster; of two disturbed ones
// the faster, of workers that were together if it may be.
func TestBandwidthTwice(t *testing.T) {
	calm, noisy, apart := []schema.Code(nil), []schema.Code{schema.NoisyHost}, []schema.Code{schema.WorkersApart}
	for _, c := range []struct {
		name          string
		first, second []schema.Code
		gbps          [2]float64
		want          float64
	}{
		{"both calm", calm, calm, [2]float64{10, 11}, 10},
		{"both noisy", noisy, noisy, [2]float64{10, 11}, 11},
		{"noisy twice, then slower", noisy, noisy, [2]float64{10, 9}, 10},
		{"apart, then noisy", apart, noisy, [2]float64{10, 5}, 5},
		{"noisy, then apart", noisy, apart, [2]float64{5, 10}, 5},
		{"calm after noisy", noisy, calm, [2]float64{10, 11}, 11},
		{"a little slower", noisy, calm, [2]float64{10, 9.9}, 9.9},
		{"refuted before", noisy, calm, [2]float64{10, 9}, 10},
		{"refuted behind", calm, noisy, [2]float64{9, 10}, 10},
		{"no faster", calm, noisy, [2]float64{10, 9}, 10},
		{"faster apart", apart, calm, [2]float64{10, 5}, 5},
	} {
		calibrator := fakeCalibrator(newFake(), schema.Quick)
		for i, warnings := range [][]schema.Code{c.first, c.second} {
			m := Measurement{}
			for _, code := range warnings {
				m.warn(code, "by someone")
			}
			calibrator.addBandwidth(schema.Bandwidth{Level: schema.L1, Pattern: "read", Threads: 1, WorkingSetBytes: 4096, GBps: schema.Stat{Best: c.gbps[i]}}, m)
		}
		if got := calibrator.Device.Bandwidth; len(got) != 1 || got[0].GBps.Best != c.want {
			t.Errorf("%s: %+v, want %g", c.name, got, c.want)
		}
	}
}
