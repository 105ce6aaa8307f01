package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

// BenchmarkAttention reports the rate of each part at D = 64 as the share of the
// register-resident matrix product: the micro-kernel on panels that stay in L1.
func BenchmarkAttention(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	for _, isa := range isas {
		for _, sq := range []int{128, 256, 512, 1024, 4096} {
			s := attentionShape{max(1, 1024/sq), sq, sq, 64, 1, false}
			b.Run(fmt.Sprintf("%s/fp32/%d", isa, sq), func(b *testing.B) { benchmarkAttention[float32](b, isa, s) })
			b.Run(fmt.Sprintf("%s/fp64/%d", isa, sq), func(b *testing.B) { benchmarkAttention[float64](b, isa, s) })
		}
	}
}

// benchmarkAttention runs all parts in turn and takes the least time of each.
func benchmarkAttention[T float](b *testing.B, isa ISA, s attentionShape) {
	tm := newTestTeam(b, 1)
	a, err := newAttention[T](isa, cacheSizes{32 << 10, 1 << 20, 8 << 20}, 1, s)
	if err != nil {
		b.Fatal(err)
	}
	bytes, err := a.scratchBytes()
	if err != nil {
		b.Fatal(err)
	}
	size := int64(unsafe.Sizeof(T(0)))
	qBytes, sBytes := int64(s.heads*s.sq*s.d)*size, int64(s.heads*s.sq*s.sk)*size
	mem, err := newArena(bytes+4*qBytes+2*sBytes+1<<20, true)
	if err != nil {
		b.Fatal(err)
	}
	defer mem.close()
	r := rand.New(rand.NewPCG(1, 2))
	cut := func(n int64) []T {
		m, err := mem.alloc(n)
		if err != nil {
			b.Fatal(err)
		}
		x := as[T](m)
		for i := range x {
			x[i] = T(r.NormFloat64())
		}
		return x
	}
	q, k, v, o := cut(qBytes), cut(qBytes), cut(qBytes), cut(qBytes)
	scores, p := cut(sBytes), cut(sBytes)
	scratch, err := mem.alloc(bytes)
	if err != nil {
		b.Fatal(err)
	}
	bind := func(f func(w *worker), err error) func(w *worker) {
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	kernels, panel := a.pack, make([]T, 256*64)
	out := make([]T, 64*64)
	matmul := float64(2 * s.heads * s.sq * s.sk * s.d)
	tileFLOP := float64(2 * kernels.mr * kernels.nr * 256 * 100)
	parts := []struct {
		name string
		flop float64
		f    func(w *worker)
	}{
		{"tile", tileFLOP, func(*worker) {
			for range 100 {
				kernels.tile(kernels.mr, kernels.nr, 256, &panel[0], &panel[0], &out[0], kernels.nr, false, &out[0], nil)
			}
		}},
		{"qkT", matmul, bind(a.qkT(scratch, q, k, scores))},
		{"scale", 0, a.scaleScores(p, scores)},
		{"softmax", 0, a.softmax(p, p)},
		{"pv", matmul, bind(a.pv(scratch, p, v, o))},
		{"qkTScale", matmul, bind(a.qkTScale(scratch, q, k, scores))},
		{"qkTSoftmax", matmul, bind(a.qkTSoftmax(scratch, q, k, p))},
		{"full", 2 * matmul, bind(a.full(scratch, q, k, v, o))},
	}
	least := make([]time.Duration, len(parts))
	for b.Loop() {
		for i, part := range parts {
			if d := tm.sample([]sample{{n: 1, bodies: []func(w *worker){part.f}}})[0]; least[i] == 0 || d < least[i] {
				least[i] = d
			}
		}
	}
	peak := tileFLOP / least[0].Seconds()
	for i, part := range parts {
		if part.flop == 0 {
			b.ReportMetric(least[i].Seconds()*1e6, part.name+"-us")
			continue
		}
		b.ReportMetric(100*part.flop/least[i].Seconds()/peak, part.name+"-%")
	}
	b.ReportMetric(peak/1e9, "tile-GFLOPS")
}
