package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hwcal/bench/element"
	"hwcal/schema"
)

// halfULP is half the distance of numbers of 16 bits at x, half of the least one's near 0.
func halfULP(d schema.DType, x float64) float64 {
	digits, least := 8, -133 // of the significand, and the exponent of the least number
	if d == schema.FP16 {
		digits, least = 11, -24
	}
	_, exponent := math.Frexp(x)
	return math.Ldexp(0.5, max(exponent-digits, least))
}

// halfFunctions are the kernels of functions of one number, with what they may be off by besides the rounding
// of the result, in units of its last place and of that of x.
func halfFunctions(k halfKernels) map[string]struct {
	kernel    mapKernel[uint16, float32]
	f         func(float64) float64
	ofY, perX float64
} {
	type function = struct {
		kernel    mapKernel[uint16, float32]
		f         func(float64) float64
		ofY, perX float64
	}
	return map[string]function{
		"exp":      {k.exp, math.Exp, 0.1, 0},
		"tanh":     {k.tanh, math.Tanh, 0.1, 0},
		"gelu":     {k.gelu, gelu, 0, 0.1},
		"geluTanh": {k.geluTanh, geluTanh, 0, 0.1},
		"silu":     {k.silu, silu, 0, 0.1},
		"sigmoid":  {k.sigmoid, sigmoid, 0.1, 0},
	}
}

// Functions of every number of 16 bits there is are those of float64, rounded.
func TestHalfFunctions(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			value := func(s []uint16, i int) float64 { return element.Of(d).Get(asBytes(s), int64(i)) }
			for name, k := range halfFunctions(halfKernelsFor(d, isa)) {
				got := make([]uint16, len(all))
				k.kernel.slice(got, all, nil, 0, 0)
				for i := range all {
					x, y := value(all, i), value(got, i)
					want := k.f(x)
					bound := halfULP(d, want)*(1+2*k.ofY) + k.perX*2*halfULP(d, x)
					if d == schema.BF16 {
						bound += 0x1.8p-126 // where an instruction rounds to 0, and sigmoid ends
					}
					largest := map[schema.DType]float64{schema.BF16: 0x1.ffp127, schema.FP16: 0x1.ffep15}[d] // rounded to Inf
					switch {
					case math.IsNaN(x):
						if !math.IsNaN(y) {
							t.Fatalf("%s: %s(NaN %#04x) = %g", d, name, all[i], y)
						}
					case math.IsInf(want, 0) || want >= largest:
						if !math.IsInf(y, 1) {
							t.Fatalf("%s: %s(%g) = %g, want %g", d, name, x, y, want)
						}
					case !(math.Abs(y-want) <= bound):
						t.Fatalf("%s: %s(%g) = %g, want %g +- %g", d, name, x, y, want, bound)
					}
				}
				// The same at every length, on both sides of guard pages, past the caches or not.
				for n := 1; n <= 150; n++ {
					for _, nt := range everyNontemporal {
						from := 0x3f00 + 64*n
						src, dst := guardedHalves(t, n, n%2 == 0), guardedHalves(t, n, n%2 == 0)
						copy(src, all[from:])
						k.kernel.storing(nt).slice(dst, src, nil, 0, 0)
						sameHalves(t, fmt.Sprintf("%s: %s of %d%s", d, name, n, nt.suffix()), d, dst, got[from:from+n])
					}
				}
			}
		}
	})
}

// What is done to rows of halves is what their portable twins do, at every length around the unrolled loops, before
// and behind guard pages, past the caches or not.
func TestHalfRowKernels(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			for n := 1; n <= 150; n++ {
				testHalfRowKernels(t, isa, d, 1+n%3, n)
			}
			testHalfRowKernels(t, isa, d, 3, 4256) // past 8 KiB
		}
	})
}

func testHalfRowKernels(t *testing.T, isa ISA, d schema.DType, m, n int) {
	r := rand.New(rand.NewPCG(uint64(n), 8))
	k, twin := halfKernelsFor(d, isa), halfKernelsFor(d, Portable)
	front, nt := n%2 == 0, cached
	if n%32 == 0 {
		nt = pastCaches + nontemporal(n/32%2)
	}
	halvesOf := func(count int) []uint16 {
		x := guardedHalves(t, count, front)
		for i := range x {
			element.Of(d).Set(asBytes(x), int64(i), r.NormFloat64())
		}
		return x
	}
	floats := func(count int) []float32 {
		x := guardedOne[float32](t, count, front)
		fillRandom(r, x, 1, count, count)
		return x
	}
	src, y, got, want := halvesOf(m*n), halvesOf(m*n), halvesOf(m*n), make([]uint16, m*n)
	gamma1, beta, room, one := floats(n), floats(n), floats(2*n), func(n int) []float32 { return floats(n) }
	const eps = 0.125
	compare := func(name string) {
		t.Helper()
		for i := range got {
			a, b := element.Of(d).Get(asBytes(got), int64(i)), element.Of(d).Get(asBytes(want), int64(i))
			if !(math.Abs(a-b) <= 2*halfULP(d, b)+0x1p-12) {
				t.Fatalf("%s %s %s %dx%d: [%d] = %g, want %g", isa, d, name, m, n, i, a, b)
			}
		}
	}
	near := func(name string, a, b []float32, bound float64) {
		t.Helper()
		for i := range a {
			if !(math.Abs(float64(a[i]-b[i])) <= bound) {
				t.Fatalf("%s %s %s %dx%d: [%d] = %g, want %g", isa, d, name, m, n, i, a[i], b[i])
			}
		}
	}
	for _, with := range []*uint16{nil, &y[0]} {
		k.softmaxRows(&got[0], &src[0], with, &room[0], n, n, n, m, n, 0.75, nt)
		twin.softmaxRows(&want[0], &src[0], with, nil, n, n, n, m, n, 0.75, cached)
		compare("softmaxRows")
	}
	k.layerNorm(&got[0], &src[0], &gamma1[0], &beta[0], n, n, m, n, eps, nt)
	twin.layerNorm(&want[0], &src[0], &gamma1[0], &beta[0], n, n, m, n, eps, cached)
	compare("layerNorm")
	k.addLayerNorm(&got[0], &src[0], &y[0], &gamma1[0], &beta[0], &room[0], n, n, n, m, n, eps, nt)
	twin.addLayerNorm(&want[0], &src[0], &y[0], &gamma1[0], &beta[0], nil, n, n, n, m, n, eps, cached)
	compare("addLayerNorm")
	k.rmsNorm(&got[0], &src[0], &gamma1[0], n, n, m, n, eps, nt)
	twin.rmsNorm(&want[0], &src[0], &gamma1[0], n, n, m, n, eps, cached)
	compare("rmsNorm")
	if k.layerBlock != nil && nt != cached {
		copy(got, want)
		sum, squares := k.layerBlock(&got[0], &src[0], nil, &y[0], nil, &gamma1[0], &beta[0], n, 0.25, 1.5, 0.5)
		var wantSum, wantSquares float64
		for i := range n {
			at := func(s []uint16) float64 { return element.Of(d).Get(asBytes(s), int64(i)) }
			element.Of(d).Set(asBytes(want), int64(i), (at(src)-0.25)*1.5*float64(gamma1[i])+float64(beta[i]))
			wantSum += at(y) - 0.5
			wantSquares += (at(y) - 0.5) * (at(y) - 0.5)
		}
		compare("layerBlock")
		near("layerBlock", []float32{sum, squares}, []float32{float32(wantSum), float32(wantSquares)}, 1e-5*float64(n))
	}
	k.dropout(&got[0], &src[0], m*n, 1.5, 1<<29, 77, nt)
	twin.dropout(&want[0], &src[0], m*n, 1.5, 1<<29, 77, cached)
	compare("dropout")
	k.addGeluDropout(&got[0], &src[0], &y[0], m*n, 1.5, 1<<29, 77, nt)
	twin.addGeluDropout(&want[0], &src[0], &y[0], m*n, 1.5, 1<<29, 77, cached)
	compare("addGeluDropout")
	for name, f := range map[string][2]func(dst *float32, src *uint16, lds, m, n int){
		"rowSums": {k.rowSums, twin.rowSums}, "rowMaxes": {k.rowMaxes, twin.rowMaxes},
	} {
		a, b := one(m), one(m)
		f[0](&a[0], &src[0], n, m, n)
		f[1](&b[0], &src[0], n, m, n)
		near(name, a, b, 1e-5*float64(n))
	}
	a, b, largest, other := one(m), one(m), one(m), one(m)
	k.rowExpSums(&a[0], &largest[0], &src[0], n, m, n)
	twin.rowExpSums(&b[0], &other[0], &src[0], n, m, n)
	near("rowExpSums", largest, other, 0)
	near("rowExpSums", a, b, 0x1p-12*float64(n))
	for _, far := range []bool{false, true} {
		near("rowDistance", []float32{k.rowDistance(&src[0], &y[0], n, far)}, []float32{twin.rowDistance(&src[0], &y[0], n, far)}, 1e-5*float64(n))
	}
	for name, f := range map[string][2]func(dst *float32, src *uint16, ld, m, n int){
		"colSum": {k.colSum, twin.colSum}, "colMax": {k.colMax, twin.colMax},
	} {
		a, b := one(n), one(n)
		copy(b, a)
		f[0](&a[0], &src[0], n, m, n)
		f[1](&b[0], &src[0], n, m, n)
		near(name, a, b, 1e-5)
	}
	for name, f := range map[string][2]joinKernel[uint16, float32]{
		"addFar": {k.addFar, twin.addFar}, "maxFar": {k.maxFar, twin.maxFar},
	} {
		a, b := one(n), one(n)
		copy(b, a)
		f[0].matrix(a, 0, a, 0, src, n, m, n, 0, 0)
		f[1].matrix(b, 0, b, 0, src, n, m, n, 0, 0)
		near(name, a, b, 1e-5)
	}
	factors, summands := one(m), one(m)
	k.affineRows(&got[0], &src[0], &factors[0], &summands[0], n, n, m, n, nt)
	twin.affineRows(&want[0], &src[0], &factors[0], &summands[0], n, n, m, n, cached)
	compare("affineRows")
}

// Long rows of halves, and their sums, are normalised together as row by row.
func TestHalfLongNorms(t *testing.T) {
	const eps = 0.125
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			k, twin := halfKernelsFor(d, isa), halfKernelsFor(d, Portable)
			if k.layerBlock == nil {
				t.Skipf("%s has no kernel for a part of a row", isa)
			}
			for _, shape := range [][2]int{{1, 4096}, {longRows + 1, 2144}, {2*longRows + 5, 4096}} {
				m, n := shape[0], shape[1]
				r := rand.New(rand.NewPCG(15, 16))
				src, y, dst, want := guardedHalves(t, m*n, true), guardedHalves(t, m*n, true), guardedHalves(t, m*n, true), make([]uint16, m*n)
				for i := range src {
					element.Of(d).Set(asBytes(src), int64(i), r.NormFloat64()+float64(i/n))
					element.Of(d).Set(asBytes(y), int64(i), r.NormFloat64())
				}
				gains, beta := guardedOne[float32](t, n, true), guardedOne[float32](t, n, true)
				fillRandom(r, gains, 1, n, n)
				fillRandom(r, beta, 1, n, n)
				l1 := cacheSizes{L1: 4096}
				check := func(name string, long *longNorm[uint16, float32], with []uint16) {
					t.Helper()
					if !long.takes(dst, pastCaches) {
						t.Fatalf("%s: rows of %d lie in the caches or begin no lines", name, n)
					}
					clear(dst)
					long.rows(dst, src, with)
					for i := range dst {
						a, b := element.Of(d).Get(asBytes(dst), int64(i)), element.Of(d).Get(asBytes(want), int64(i))
						if !(math.Abs(a-b) <= 2*halfULP(d, b)+0x1p-12) {
							t.Fatalf("%s %s %s %dx%d: [%d,%d] = %g, want %g", isa, d, name, m, n, i/n, i%n, a, b)
						}
					}
				}
				twin.layerNorm(&want[0], &src[0], &gains[0], &beta[0], n, n, m, n, eps, cached)
				check("layer norm", newLongNorm(l1, k.layerBlock, k.rowSums, gains, beta, eps), nil)
				twin.addLayerNorm(&want[0], &src[0], &y[0], &gains[0], &beta[0], nil, n, n, n, m, n, eps, cached)
				check("layer norm of sums", newLongNorm(l1, k.addLayerBlock, k.rowSums, gains, beta, eps), y)
				twin.rmsNorm(&want[0], &src[0], &gains[0], n, n, m, n, eps, cached)
				check("root mean square", newLongNorm(l1, k.rmsBlock, k.rowSums, gains, nil, eps), nil)
			}
		}
	})
}
