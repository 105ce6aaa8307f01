package cpu

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGEMV gives the rate at which a product with few rows reads its weights,
// packed beforehand, and that of reading the same bytes: each the best of samples taken
// in turn..
func BenchmarkGEMV(b *testing.B) {
	for _, m := range []int{1, 2, 4, 8, 12} {
		for _, n := range []int{1024, 4096, 8192} {
			for _, u := range units {
				b.Run(fmt.Sprintf("%s/%s/%dx%dx4096", u.dtype, u.name, m, n), func(b *testing.B) {
					if !present(u) {
						b.Skipf("this machine has no %s", u.title)
					}
					benchGEMV(b, u, m, n, 4096)
				})
			}
		}
	}
}

func benchGEMV(b *testing.B, u unit, m, n, k int) {
	g, err := newNarrowGEMM(u, cacheSizes{48 << 10, 1 << 20, 32 << 20}, 1, m, n, k)
	if err != nil {
		b.Fatal(err)
	}
	bufs := benchBuffers[float32](b, m*k, g.packedBytes()/4, int(g.scratchBytes()/4), m*n)
	x, packed, c := byteRows{asBytes(bufs[0]), k * g.size}, asBytes(bufs[1])[:g.packedBytes()], byteRows{asBytes(bufs[3]), n * accBytes}
	for i := range packed {
		packed[i] = 0x3c
	}
	for i := range x.data {
		x.data[i] = 0x3c
	}
	s, err := g.newScratch(asBytes(bufs[2]))
	if err != nil {
		b.Fatal(err)
	}
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	read, words := streamKernels(isas[0])[0], as[float64](packed)
	tm := newTestTeam(b, 1)
	times := max(1, 64<<20/len(packed))
	var best [2]float64
	for b.Loop() {
		for end := time.Now().Add(benchTime); time.Now().Before(end); {
			for i, f := range []func(w *worker){
				func(w *worker) { g.run(0, s[0], x, byteRows{}, packed, c, nil) },
				func(*worker) { read.run(1, words, nil, nil, 0) },
			} {
				f(nil)
				best[i] = max(best[i], float64(times*len(packed))/timed(tm, times, f).Seconds()/1e9)
			}
		}
	}
	b.ReportMetric(best[0], "GB/s")
	b.ReportMetric(best[1], "read_GB/s")
	b.ReportMetric(best[0]/best[1], "of_read")
	b.ReportMetric(0, "ns/op")
}
