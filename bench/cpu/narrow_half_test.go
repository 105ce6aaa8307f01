package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"hwcal/bench/element"
	"hwcal/schema"
)

// halfTypes are the types of 16 bits.
var halfTypes = []schema.DType{schema.BF16, schema.FP16}

// halfOperations meet a second matrix.
var halfOperations = []string{"add", "sub", "mul", "div"}

// Every number of 16 bits becomes itself in fp32, and comes back.
func TestWiden(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			c := halfKernelsFor(d, isa)
			all, wide, back := make([]uint16, 1<<16), make([]float32, 1<<16), make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			c.widen(&wide[0], &all[0], 256, 256, 256, 256)
			c.round(&back[0], &wide[0], 256, 256, 256, 256)
			sameHalves(t, string(d)+" and back", d, back, flushed(d, back, all, wide))
			for i, got := range wide {
				if want := element.Of(d).Get(asBytes(all), int64(i)); float64(got) != want && !(got != got && want != want) {
					t.Fatalf("%s: %#04x became %g, want %g", d, i, got, want)
				}
			}
		}
	})
}

// flushed is what rounding src to bf16 gives where its instruction takes numbers below the normal
// ones for 0: of those, got and want may both be right.
func flushed(d schema.DType, got, want []uint16, src []float32) []uint16 {
	const sign, leastNormal = 0x8000, 0x1p-126
	if d != schema.BF16 || !cpuid.CPU.Supports(cpuid.AVX512BF16) {
		return want
	}
	either := slices.Clone(want)
	for i, x := range src {
		if math.Abs(float64(x)) < leastNormal && got[i] == want[i]&sign {
			either[i] = got[i]
		}
	}
	return either
}

// fp32 is rounded as elements are, whatever its bits.
func TestRound(t *testing.T) {
	const n = 1 << 10
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			c := halfKernelsFor(d, isa)
			src, dst, want := make([]float32, n), make([]uint16, n), make([]uint16, n)
			for upper := uint32(0); upper < 1<<16; upper += n / 8 {
				for i := range src {
					// Around the middle between two numbers of bf16, and of fp16.
					lower := []uint32{0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001}[i%8]
					src[i] = math.Float32frombits((upper+uint32(i/8))<<16 | lower)
				}
				c.round(&dst[0], &src[0], n, n, 1, n)
				for i, x := range src {
					element.Of(d).Set(asBytes(want), int64(i), float64(x))
				}
				sameHalves(t, fmt.Sprintf("%s: rounding from %#04x", d, upper), d, dst, flushed(d, dst, want, src))
			}
		}
	})
}

// Lengths around the loops, rows apart, at the edges of the memory: what lies between
// rows is left alone.
func TestConversionOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			c, want := halfKernelsFor(d, isa), halfKernelsFor(d, Portable)
			for n := 1; n <= 140; n += 1 + n/40 {
				for _, m := range []int{1, 3} {
					lds, ldd := n+2, n+3
					src, dst := guardedOne[float32](t, (m-1)*lds+n, n%2 == 0), guardedHalves(t, (m-1)*ldd+n, n%2 == 0)
					fillRandom(r, src, m, n, lds)
					expected := make([]uint16, len(dst))
					want.round(&expected[0], &src[0], ldd, lds, m, n)
					for i, round := range []func(dst *uint16, src *float32, ldd, lds, m, n int){c.round, c.roundAhead} {
						clear(dst)
						round(&dst[0], &src[0], ldd, lds, m, n)
						if fmt.Sprint(dst) != fmt.Sprint(expected) {
							t.Fatalf("%s: rounding %dx%d, way %d: %v, want %v", d, m, n, i, dst, expected)
						}
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

// What is done to numbers of 16 bits is what Go does to them, to all there are, NaN and
// infinity among them.
func TestHalfKernels(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			k, want := halfKernelsFor(d, isa), halfKernelsFor(d, Portable)
			all, got, expected := make([]uint16, 1<<16), make([]uint16, 1<<16), make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			k.relu.slice(got, all, nil, 0, 0)
			want.relu.slice(expected, all, nil, 0, 0)
			sameNumbers(t, fmt.Sprintf("%s: relu", d), d, got, expected)
			for shift := 1; shift < 1<<16; shift += 4099 {
				y := append(all[shift:len(all):len(all)], all[:shift]...)
				for _, op := range halfOperations {
					k.map2(op).slice(got, all, y, 0, 0)
					want.map2(op).slice(expected, all, y, 0, 0)
					sameNumbers(t, fmt.Sprintf("%s: %s %d", d, op, shift), d, got, expected)
				}
			}
		}
	})
}

// The same at lengths around the loops, on rows apart, at the edges of the memory, and
// with one row for all.
func TestHalfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			k, want := halfKernelsFor(d, isa), halfKernelsFor(d, Portable)
			for n := 1; n <= 200; n += 1 + n/40 {
				for _, m := range []int{1, 3} {
					lds, ldd := n+2, n+3
					src, y := guardedHalves(t, (m-1)*lds+n, n%2 == 0), guardedHalves(t, (m-1)*lds+n, n%2 == 0)
					dst, expected := guardedHalves(t, (m-1)*ldd+n, n%2 == 0), make([]uint16, (m-1)*ldd+n)
					for i := range src {
						element.Of(d).Set(asBytes(src), int64(i), r.NormFloat64())
						element.Of(d).Set(asBytes(y), int64(i), r.NormFloat64())
					}
					clear(dst)
					k.relu.matrix(dst, ldd, src, lds, nil, 0, m, n, 0, 0)
					want.relu.matrix(expected, ldd, src, lds, nil, 0, m, n, 0, 0)
					sameHalves(t, fmt.Sprintf("%s: relu %dx%d", d, m, n), d, dst, expected)
					for _, ldy := range []int{0, lds} {
						for _, op := range halfOperations {
							k.map2(op).matrix(dst, ldd, src, lds, y, ldy, m, n, 0, 0)
							want.map2(op).matrix(expected, ldd, src, lds, y, ldy, m, n, 0, 0)
							sameHalves(t, fmt.Sprintf("%s: %s %dx%d", d, op, m, n), d, dst, expected)
						}

						wide, exact := guardedOne[float32](t, (m-1)*ldd+n, n%2 == 0), make([]float32, (m-1)*ldd+n)
						fillRandom(r, wide, m, n, ldd)
						copy(exact, wide)
						k.addFar.matrix(wide, ldd, wide, ldd, y, ldy, m, n, 0, 0)
						want.addFar.matrix(exact, ldd, exact, ldd, y, ldy, m, n, 0, 0)
						if fmt.Sprint(wide) != fmt.Sprint(exact) {
							t.Fatalf("%s: addFar %dx%d: %v, want %v", d, m, n, wide, exact)
						}
					}
				}
			}
		}
	})
}

// sameHalves compares numbers of 16 bits; one NaN is as good as another.
func sameHalves(t *testing.T, name string, d schema.DType, got, want []uint16) {
	t.Helper()
	for i := range got {
		value := func(x []uint16) float64 { return element.Of(d).Get(asBytes(x), int64(i)) }
		if got[i] != want[i] && !(math.IsNaN(value(got)) && math.IsNaN(value(want))) {
			t.Fatalf("%s: [%d] = %#04x, want %#04x", name, i, got[i], want[i])
		}
	}
}

// sameNumbers compares the results of kernels, as numbers: of zeros any sign is right, and to a kernel that rounds to
// bf16 by an instruction what is below the normal numbers is 0.
func sameNumbers(t *testing.T, name string, d schema.DType, got, want []uint16) {
	t.Helper()
	const leastNormal = 0x1p-126
	for i := range got {
		value := func(x []uint16) float64 { return element.Of(d).Get(asBytes(x), int64(i)) }
		g, w := value(got), value(want)
		flushed := d == schema.BF16 && cpuid.CPU.Supports(cpuid.AVX512BF16) && g == 0 && math.Abs(w) <= leastNormal
		if g != w && !flushed && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Fatalf("%s: [%d] = %g, want %g", name, i, g, w)
		}
	}
}

// neighbours compares results that may differ by what is rounded in fp32 before: by one unit in the last place.
func neighbours(t *testing.T, name string, d schema.DType, got, want []uint16) {
	t.Helper()
	for i := range got {
		g, w := element.Of(d).Get(asBytes(got), int64(i)), element.Of(d).Get(asBytes(want), int64(i))
		if !(math.Abs(g-w) <= 2*halfULP(d, w)) {
			t.Fatalf("%s: [%d] = %g, want %g", name, i, g, w)
		}
	}
}
