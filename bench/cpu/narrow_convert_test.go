package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hwcal/schema"
)

// halves are the types of 16 bits.
var halves = []schema.DType{schema.BF16, schema.FP16}

// Every number of 16 bits becomes itself in fp32, and comes back.
func TestWiden(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halves {
			c := conversionOf(d, isa)
			all, wide, back := make([]uint16, 1<<16), make([]float32, 1<<16), make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			c.widen(&wide[0], &all[0], 256, 256, 256, 256)
			c.round(&back[0], &wide[0], 256, 256, 256, 256)
			mem := make([]byte, 2)
			for i, got := range wide {
				as[uint16](mem)[0] = uint16(i)
				want := elements[d].get(mem, 0)
				if math.IsNaN(want) {
					as[uint16](mem)[0] = back[i]
					if !math.IsNaN(float64(got)) || !math.IsNaN(elements[d].get(mem, 0)) {
						t.Fatalf("%s: NaN %#04x became %g and %#04x", d, i, got, back[i])
					}
				} else if float64(got) != want || back[i] != all[i] {
					t.Fatalf("%s: %#04x became %g, want %g, and %#04x", d, i, got, want, back[i])
				}
			}
		}
	})
}

// fp32 is rounded as elements are, whatever its bits.
func TestRound(t *testing.T) {
	const n = 1 << 10
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halves {
			c := conversionOf(d, isa)
			src, dst, mem := make([]float32, n), make([]uint16, n), make([]byte, 2)
			for upper := uint32(0); upper < 1<<16; upper += n / 8 {
				for i := range src {
					// Around the middle between two numbers of bf16, and of fp16.
					lower := []uint32{0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001}[i%8]
					src[i] = math.Float32frombits((upper+uint32(i/8))<<16 | lower)
				}
				c.round(&dst[0], &src[0], n, n, 1, n)
				for i, x := range src {
					elements[d].set(mem, 0, float64(x))
					want := as[uint16](mem)[0]
					as[uint16](mem)[0] = dst[i]
					if x != x && math.IsNaN(elements[d].get(mem, 0)) {
						continue
					}
					if dst[i] != want {
						t.Fatalf("%s: %#08x became %#04x, want %#04x", d, math.Float32bits(x), dst[i], want)
					}
				}
			}
		}
	})
}

// Lengths around the loops, rows apart, at the edges of the memory: what lies between
// rows is left alone.
func TestConversionOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halves {
			c, want := conversionOf(d, isa), conversionOf(d, Portable)
			for n := 1; n <= 140; n += 1 + n/40 {
				for _, m := range []int{1, 3} {
					lds, ldd := n+2, n+3
					src, dst := guardedOne[float32](t, (m-1)*lds+n, n%2 == 0), guardedHalves(t, (m-1)*ldd+n, n%2 == 0)
					fillRandom(r, src, m, n, lds)
					expected := make([]uint16, len(dst))
					c.round(&dst[0], &src[0], ldd, lds, m, n)
					want.round(&expected[0], &src[0], ldd, lds, m, n)
					if fmt.Sprint(dst) != fmt.Sprint(expected) {
						t.Fatalf("%s: rounding %dx%d: %v, want %v", d, m, n, dst, expected)
					}
					back, exact := guardedOne[float32](t, (m-1)*lds+n, n%2 == 0), make([]float32, (m-1)*lds+n)
					c.widen(&back[0], &dst[0], lds, ldd, m, n)
					want.widen(&exact[0], &dst[0], lds, ldd, m, n)
					if fmt.Sprint(back) != fmt.Sprint(exact) {
						t.Fatalf("%s: widening %dx%d: %v, want %v", d, m, n, back, exact)
					}
				}
			}
		}
	})
}

func guardedHalves(t *testing.T, n int, front bool) []uint16 {
	f, b := guardedBytes(t, 2*n)
	if front {
		return as[uint16](f)
	}
	return as[uint16](b)
}

// Every element passes through a block once, of rows longer and shorter than one.
func TestInBlocks(t *testing.T) {
	c := conversionOf(schema.BF16, Portable)
	for _, dims := range [][2]int{{1, 1}, {5, 3}, {3, blockElems - 1}, {2, blockElems + 1}, {700, 7}} {
		rows, cols := dims[0], dims[1]
		src, dst := make([]uint16, rows*cols), make([]uint16, rows*cols)
		for i := range src {
			src[i] = uint16(toBF16(float64(i % 100)))
		}
		c.inBlocks(make([]float32, blockElems), dst, src, rows, cols, func(x []float32, j0, m, n int) {
			for i := range x {
				x[i] += float32((j0 + i%n) % 100)
			}
		})
		for i, got := range dst {
			if want := toBF16(float64(i%100 + i%cols%100)); bf16(got) != want {
				t.Fatalf("%dx%d: [%d] = %g, want %g", rows, cols, i, bf16(got).float(), want.float())
			}
		}
	}
}
