package cpu

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGEMV gives the rate at which a product with few rows reads its weights, packed
// beforehand, and the share of it in that of only reading them: each the best of samples
// taken in turn.
func BenchmarkGEMV(b *testing.B) {
	const k = 4096
	caches := cacheSizes{48 << 10, 1 << 20, 32 << 20}
	for _, n := range []int{1024, 4096} {
		for _, m := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("fp32/%dx%dx%d", m, n, k), func(b *testing.B) {
				g, err := newGEMM[float32](bestISA(b), caches, 1, m, n, k)
				if err != nil {
					b.Fatal(err)
				}
				buf := benchBuffers[float32](b, m*k, g.packedBLen(), int(g.scratchBytes()/4), m*n)
				s, err := g.newScratch(asBytes(buf[2]))
				if err != nil {
					b.Fatal(err)
				}
				x, y := plain(matrix[float32]{data: buf[0], rows: m, cols: k, ld: k}), matrix[float32]{data: buf[3], rows: m, cols: n, ld: n}
				w := operand[float32]{packed: buf[1]}
				benchGEMV(b, asBytes(buf[1]), func(*worker) { g.serial(s, &x, &w, &y, nil) })
			})
			for _, u := range units {
				b.Run(fmt.Sprintf("%s/%s/%dx%dx%d", u.dtype, u.name, m, n, k), func(b *testing.B) {
					if !present(u) {
						b.Skipf("this machine has no %s", u.title)
					}
					g, err := newNarrowGEMM(u, caches, 1, m, n, k)
					if err != nil {
						b.Fatal(err)
					}
					buf := benchBuffers[float32](b, m*k, g.packedBytes()/4, int(g.scratchBytes()/4), m*n)
					s, err := g.newScratch(asBytes(buf[2]))
					if err != nil {
						b.Fatal(err)
					}
					x, w, y := byteRows{asBytes(buf[0]), k * g.size}, asBytes(buf[1]), byteRows{asBytes(buf[3]), n * accBytes}
					benchGEMV(b, w, func(*worker) { g.run(0, s[0], x, byteRows{}, w, y, nil) })
				})
			}
		}
	}
}

func benchGEMV(b *testing.B, weights []byte, multiply func(*worker)) {
	read, words := streamKernels(bestISA(b))[0], as[float64](weights)
	tm := newTestTeam(b, 1)
	times := max(1, 64<<20/len(weights))
	var best [2]float64
	for b.Loop() {
		for end := time.Now().Add(benchTime); time.Now().Before(end); {
			for i, f := range []func(*worker){multiply, func(*worker) { read.run(1, words, nil, nil, 0) }} {
				f(nil)
				best[i] = max(best[i], float64(times*len(weights))/timed(tm, times, f).Seconds()/1e9)
			}
		}
	}
	b.ReportMetric(best[0], "GB/s")
	b.ReportMetric(100*best[0]/best[1], "%read")
	b.ReportMetric(0, "ns/op")
}

func bestISA(b *testing.B) ISA {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	return isas[0]
}
