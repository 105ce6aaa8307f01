package cpu

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

func TestPeak(t *testing.T) {
	t.Run("float32", func(t *testing.T) { eachISA(t, testPeak[float32]) })
	t.Run("float64", func(t *testing.T) { eachISA(t, testPeak[float64]) })
}

// testPeak compares every accumulator with the sequence computed one by one. All
// values are below 4 and each step halves the error of the one before, so that the
// error stays below 2 ulp(4), with or without fused steps.
func testPeak[T float](t *testing.T, isa ISA) {
	k := peakKernelOf[T](isa)
	random := rand.New(rand.NewPCG(1, 2))
	var ulp T = 4
	for T(4)+ulp/2 != T(4) {
		ulp /= 2
	}
	for _, iters := range []int{0, 1, 2, 7, 100, peakCall, peakCall + 3} {
		acc := guardedOne[T](t, k.accs, false)
		want := make([]float64, k.accs)
		for i := range acc {
			acc[i] = T(random.NormFloat64())
			want[i] = float64(acc[i])
			for range min(iters, 2000) {
				want[i] = want[i]*0.5 + 1
			}
		}
		k.run(iters, acc)
		for i, x := range acc {
			if d := float64(x) - want[i]; d > 2*float64(ulp) || d < -2*float64(ulp) {
				t.Fatalf("%s, %d iterations: acc[%d] = %v, want %v", k.name, iters, i, x, want[i])
			}
		}
	}
}

func BenchmarkPeak(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	for _, isa := range isas {
		b.Run("float32/"+string(isa), func(b *testing.B) { benchmarkPeak[float32](b, isa) })
		b.Run("float64/"+string(isa), func(b *testing.B) { benchmarkPeak[float64](b, isa) })
	}
}

func benchmarkPeak[T float](b *testing.B, isa ISA) {
	k := peakKernelOf[T](isa)
	acc := make([]T, k.accs)
	for i := range acc {
		acc[i] = T(rand.NormFloat64())
	}
	const iters = 1 << 18
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best, clock := time.Duration(1<<62), 0.0
	for b.Loop() {
		begin := time.Now()
		k.run(iters, acc)
		elapsed := time.Since(begin)
		if mhz, err := effectiveClock(); err == nil && elapsed < best {
			best, clock = elapsed, mhz
		}
	}
	gflops := float64(iters*k.flopPerIter) / float64(best)
	b.ReportMetric(gflops, "GFLOPS")
	b.ReportMetric(gflops/clock*1000, "FLOP/cycle")
	b.ReportMetric(0, "ns/op")
	if acc[0] != 2 {
		b.Fatalf("%s converged to %v", k.name, acc[0])
	}
}
