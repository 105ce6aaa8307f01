package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// BenchmarkVec reports the bandwidth of each kernel, 2 n elements a call, beside
// that of a copy, in L1, L2 and DRAM.
func BenchmarkVec(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	for _, isa := range isas {
		if isa == Portable && len(isas) > 1 {
			continue
		}
		benchmarkVec[float32](b, isa, "fp32")
		benchmarkVec[float64](b, isa, "fp64")
	}
}

func benchmarkVec[T float](b *testing.B, isa ISA, dtype string) {
	k := vecKernelsFor[T](isa)
	size := int(unsafe.Sizeof(T(0)))
	for _, level := range []struct {
		name  string
		bytes int // of the working set
	}{{"L1", 16 << 10}, {"L2", 256 << 10}, {"DRAM", 256 << 20}} {
		n := level.bytes / 2 / size
		a, err := newArena(int64(level.bytes)+2<<20, true)
		if err != nil {
			b.Fatal(err)
		}
		cut := func() []T {
			m, err := a.alloc(int64(n * size))
			if err != nil {
				b.Fatal(err)
			}
			return as[T](m)
		}
		dst, src := cut(), cut()
		row := make([]T, n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range src {
			src[i], row[i%4096] = T(r.NormFloat64()), T(r.NormFloat64())
			dst[i] = 0
		}
		row = row[:min(n, 1024)]
		flat := func(f mapKernel[T, T]) func() {
			return func() { f.slice(dst, src, nil, 0.5, 0.25) }
		}
		biased := func(f mapKernel[T, T]) func() {
			return func() { f.matrix(dst, len(row), src, len(row), row, 0, n/len(row), len(row), 0, 0) }
		}
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"copy", func() { copy(dst, src) }},
			{"relu", flat(k.relu)}, {"scale", flat(k.scale)}, {"affine", flat(k.affine)},
			{"add", biased(k.add)}, {"addRelu", biased(k.addRelu)}, {"addGelu", biased(k.addGelu)},
			{"exp", flat(k.exp)}, {"erf", flat(k.erf)}, {"tanh", flat(k.tanh)}, {"gelu", flat(k.gelu)},
			{"softmax", func() { k.softmax(dst, len(row), src, len(row), nil, 0, n/len(row), len(row), 1) }},
		} {
			b.Run(fmt.Sprintf("%s/%s/%s/%s", isa, dtype, level.name, op.name), func(b *testing.B) {
				for b.Loop() {
					op.run()
				}
				b.ReportMetric(float64(2*n*size)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
			})
		}
		if err := a.close(); err != nil {
			b.Fatal(err)
		}
	}
}
