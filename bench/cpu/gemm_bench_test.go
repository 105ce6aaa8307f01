package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

// benchCaches are those of a server core; the benchmarks only compare.
var benchCaches = cacheSizes{32 << 10, 1 << 20, 16 << 20}

const benchTime = 1500 * time.Millisecond

// rate measures body and the register peak of the same threads in turn and
// returns the best GFLOPS and their share of the best peak: noise only slows.
func rate[T float](tm *team, isa ISA, flop float64, body func(w *worker)) (gflops, share float64) {
	peak := peakKernelOf[T](isa)
	const iters = 20000
	acc := make([][]T, len(tm.workers))
	for i := range acc {
		acc[i] = make([]T, 1024)
	}
	atPeak := func(w *worker) { peak.run(iters, acc[w.id]) }
	peakFLOP := float64(iters*peak.flopPerIter) * float64(len(tm.workers))
	n := 1
	for timed(tm, n, body) < time.Millisecond {
		n *= 2
	}
	var best, bestPeak float64
	for end := time.Now().Add(benchTime); time.Now().Before(end); {
		bestPeak = max(bestPeak, peakFLOP/timed(tm, 1, atPeak).Seconds())
		best = max(best, flop*float64(n)/timed(tm, n, body).Seconds())
	}
	return best / 1e9, best / bestPeak
}

// timed is the time of n rounds of body, each with a barrier behind it.
func timed(tm *team, n int, body func(w *worker)) (d time.Duration) {
	tm.run(func(w *worker) {
		w.barrier()
		begin := time.Now()
		for range n {
			body(w)
			w.barrier()
		}
		if w.id == 0 {
			d = time.Since(begin)
		}
	})
	return d
}

// benchBuffers cuts random data of the given lengths from one arena.
func benchBuffers[T float](b testing.TB, lens ...int) [][]T {
	var total int64
	for _, n := range lens {
		total += int64(n)*int64(unsafe.Sizeof(T(0))) + (gapPages+2)*4096
	}
	ar, err := newArena(total, true)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ar.close() })
	r := rand.New(rand.NewPCG(1, 2))
	var out [][]T
	for _, n := range lens {
		mem, err := ar.alloc(int64(n) * int64(unsafe.Sizeof(T(0))))
		if err != nil {
			b.Fatal(err)
		}
		x := as[T](mem)
		for i := range x {
			x[i] = T(r.Float32() - 0.5)
		}
		out = append(out, x)
	}
	return out
}

func benchGEMM[T float](b *testing.B, isa ISA, threads, m, n, k int, fused bool) {
	tm := newTestTeam(b, threads)
	g, err := newGEMM[T](isa, benchCaches, threads, m, n, k)
	if err != nil {
		b.Fatal(err)
	}
	x := benchBuffers[T](b, m*k, k*n, m*n, int(g.scratchBytes())/int(unsafe.Sizeof(T(0))), n)
	s, err := g.newScratch(asBytes(x[3]))
	if err != nil {
		b.Fatal(err)
	}
	am, bm := matrix[T]{data: x[0], rows: m, cols: k, ld: k}, matrix[T]{data: x[1], rows: k, cols: n, ld: n}
	cm := matrix[T]{data: x[2], rows: m, cols: n, ld: n}
	var epi epilogue[T]
	if fused {
		epi = epilogueOf([]step[T]{with(vecKernelsFor[T](isa).addRelu, x[4], n)})
	}
	gflops, share := rate[T](tm, isa, 2*float64(m)*float64(n)*float64(k), func(w *worker) {
		g.run(w, s, plain(am), plain(bm), cm, epi)
	})
	b.ReportMetric(gflops, "GFLOPS")
	b.ReportMetric(100*share, "%peak")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkGEMM(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	for _, isa := range isas {
		if isa == Portable {
			continue
		}
		for threads := 1; threads <= 2; threads++ {
			for _, s := range [][3]int{{256, 256, 256}, {1024, 1024, 1024}, {2048, 2048, 2048}, {512, 1024, 1024}, {1000, 999, 1001}, {32, 4096, 4096}, {4096, 32, 4096}} {
				name := fmt.Sprintf("%s/t%d/%dx%dx%d", isa, threads, s[0], s[1], s[2])
				b.Run("fp32/"+name, func(b *testing.B) { benchGEMM[float32](b, isa, threads, s[0], s[1], s[2], false) })
				b.Run("fp32_bias_relu/"+name, func(b *testing.B) { benchGEMM[float32](b, isa, threads, s[0], s[1], s[2], true) })
				b.Run("fp64/"+name, func(b *testing.B) { benchGEMM[float64](b, isa, threads, s[0], s[1], s[2], false) })
			}
		}
	}
}

// BenchmarkConv counts the nominal FLOP, so padding makes a rate look up to a few
// percent better than the kernels are.
func BenchmarkConv(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	shapes := []convShape{
		{4, 128, 28, 28, 128, 3, 3, 1, 1, 1},
		{1, 64, 56, 56, 64, 3, 3, 1, 1, 1},
		{1, 256, 56, 56, 64, 1, 1, 1, 0, 1},
		{1, 128, 56, 56, 128, 3, 3, 2, 1, 1},
		{1, 512, 7, 7, 512, 3, 3, 1, 1, 1},
	}
	for _, isa := range isas {
		if isa == Portable {
			continue
		}
		for threads := 1; threads <= 2; threads++ {
			for _, s := range shapes {
				plans, err := newConvPlans(newConvUnit[float32](isa), benchCaches, threads, s)
				if err != nil {
					b.Fatal(err)
				}
				for _, v := range plans {
					b.Run(fmt.Sprintf("fp32/%s/t%d/n%d_c%d_%dx%d_k%d_%dx%d_s%d/%s", isa, threads, s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride, v.name()), func(b *testing.B) {
						benchConv(b, isa, threads, s, v)
					})
				}
			}
		}
	}
}

func benchConv[T float](b *testing.B, isa ISA, threads int, s convShape, v convPlan[T]) {
	tm := newTestTeam(b, threads)
	weights := s.k * s.c / s.groups * s.r * s.s
	x := benchBuffers[T](b, s.n*s.c*s.h*s.w, weights, s.n*s.k*s.p()*s.q(), v.weightsLen(), s.k, int(v.scratchBytes())/int(unsafe.Sizeof(T(0))))
	scratch, err := v.newScratch(asBytes(x[5]))
	if err != nil {
		b.Fatal(err)
	}
	packed := v.packWeights(x[3], x[1])
	epi := newConvEpilogue(isa, x[4], nil, true)
	flop := 2 * float64(weights) * float64(s.n*s.p()*s.q())
	gflops, share := rate[T](tm, isa, flop, func(w *worker) { v.run(w.id, scratch, x[0], packed, x[2], s.p()*s.q(), epi) })
	b.ReportMetric(gflops, "GFLOPS")
	b.ReportMetric(100*share, "%peak")
	b.ReportMetric(0, "ns/op")
}
