package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// mapCase is an element-wise kernel with its float64 twin. The bound of the error
// is in units of u = 2^-24 or 2^-53: roundings times the magnitude of what is
// rounded.
type mapCase[T float] struct {
	name   string
	kernel mapKernel[T, T]
	hasY   bool
	f      func(x, y, a, b float64) (want, bound float64)
}

// geluBound and siluBound are the documented errors in units of u|x|.
const geluBound, siluBound = 3, 3

func mapCases[T float](k vecKernels[T]) []mapCase[T] {
	relu := func(x float64) float64 { return math.Max(x, 0) }
	plus := func(x, y float64) float64 { return math.Abs(x) + math.Abs(y) }
	type f = func(x, y, a, b float64) (float64, float64)
	ulps := func(g func(float64) float64, n float64) f {
		return func(x, _, _, _ float64) (float64, float64) { y := g(x); return y, 2 * n * math.Abs(y) }
	}
	// Squares are positive, as log wants them.
	logOfSquare := func(dst, src, _ *T, ldd, lds, _, m, n int, _, _ T, nt nontemporal) {
		k.mul(dst, src, src, ldd, lds, lds, m, n, 0, 0, cached)
		k.log(dst, dst, nil, ldd, ldd, 0, m, n, 0, 0, nt)
	}
	return []mapCase[T]{
		{"exp", k.exp, false, ulps(math.Exp, 2)},
		{"log", logOfSquare, false, func(x, _, _, _ float64) (float64, float64) {
			y := math.Log(x * x)
			return y, 1 + 2*logUlps*math.Abs(y)
		}},
		{"erf", k.erf, false, ulps(math.Erf, 4)},
		{"tanh", k.tanh, false, ulps(math.Tanh, 4)},
		{"relu", k.relu, false, func(x, _, _, _ float64) (float64, float64) { return relu(x), 0 }},
		{"gelu", k.gelu, false, func(x, _, _, _ float64) (float64, float64) { return gelu(x), geluBound * math.Abs(x) }},
		{"silu", k.silu, false, func(x, _, _, _ float64) (float64, float64) { return silu(x), siluBound * math.Abs(x) }},
		{"scale", k.scale, false, func(x, _, a, _ float64) (float64, float64) { return a * x, math.Abs(a * x) }},
		{"affine", k.affine, false, func(x, _, a, b float64) (float64, float64) { return a*x + b, 2 * plus(a*x, b) }},
		{"add", k.add, true, func(x, r, _, _ float64) (float64, float64) { return x + r, plus(x, r) }},
		{"addRelu", k.addRelu, true, func(x, r, _, _ float64) (float64, float64) { return relu(x + r), plus(x, r) }},
		// The slope of gelu is at most 1.13.
		{"addGelu", k.addGelu, true, func(x, r, _, _ float64) (float64, float64) { return gelu(x + r), (geluBound + 1.13) * plus(x, r) }},
		// The slope of silu is at most 1.1.
		{"addSilu", k.addSilu, true, func(x, y, _, _ float64) (float64, float64) { return silu(x + y), (siluBound + 1.1) * plus(x, y) }},
		{"siluMul", k.siluMul, true, func(x, y, _, _ float64) (float64, float64) { return silu(x) * y, (siluBound + 1) * math.Abs(x*y) }},
		{"sub", k.sub, true, func(x, y, _, _ float64) (float64, float64) { return x - y, plus(x, y) }},
		{"div", k.div, true, func(x, y, _, _ float64) (float64, float64) { return x / y, math.Abs(x / y) }},
		{"addFar", k.addFar, true, func(x, r, _, _ float64) (float64, float64) { return x + r, plus(x, r) }},
		{"max", k.max, true, func(x, y, _, _ float64) (float64, float64) { return max(x, y), 0 }},
		{"maxFar", k.maxFar, true, func(x, y, _, _ float64) (float64, float64) { return max(x, y), 0 }},
		{"geluTanh", k.geluTanh, false, func(x, _, _, _ float64) (float64, float64) { return geluTanh(x), geluBound * math.Abs(x) }},
		{"sigmoid", k.sigmoid, false, ulps(sigmoid, 3)},
		{"copy", k.copy, false, func(x, _, _, _ float64) (float64, float64) { return x, 0 }},
		{"set", k.set, false, func(_, _, _, b float64) (float64, float64) { return b, 0 }},
		{"mul", k.mul, true, func(x, r, _, _ float64) (float64, float64) { return x * r, math.Abs(x * r) }},
	}
}

func TestMaps(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testMaps(t, mapCases(vecKernelsFor[float32](isa))) })
		t.Run("fp64", func(t *testing.T) { testMaps(t, mapCases(vecKernelsFor[float64](isa))) })
	})
}

// testMaps runs every kernel on slices of every length around the unrolled loops,
// on both sides of guard pages, in place and not, and on tiles with ld > n, with
// a row and a matrix beside.
func testMaps[T float](t *testing.T, cases []mapCase[T]) {
	r := rand.New(rand.NewPCG(3, 4))
	const longest = 600
	lengths := []int{longest}
	for n := range 150 {
		lengths = append(lengths, n)
	}
	srcs, dsts, ys := guardedSlices[T](t, longest), guardedSlices[T](t, longest), guardedSlices[T](t, longest)
	side := func(x [2][]T, front, n int) []T {
		if front == 1 {
			return x[1][:n]
		}
		return x[0][longest-n:]
	}
	const a, b = -1.25, 0.375
	for _, c := range cases {
		for _, n := range lengths {
			front := n % 2
			src, dst, y := side(srcs, front, n), side(dsts, front, n), side(ys, front, n)
			fillRandom(r, src, 1, n, n)
			fillRandom(r, y, 1, n, n)
			if !c.hasY {
				y = nil
			}
			for _, way := range []struct {
				inPlace bool
				nt      nontemporal
			}{{false, cached}, {false, pastCaches}, {false, farAhead}, {true, cached}} {
				original := append([]T{}, src...)
				to := dst
				if way.inPlace {
					to = src
				}
				c.kernel.storing(way.nt).slice(to, src, y, a, b)
				compareMap(t, c, fmt.Sprintf("n=%d %+v", n, way), original, to, y, n, n, n, a, b)
			}
		}
		for _, shape := range [][3]int{{1, 1, 1}, {14, 32, 32}, {13, 31, 37}, {3, 17, 18}, {6, 16, 50}, {8, 37, 37}, {3, 129, 150}} {
			m, n, ld := shape[0], shape[1], shape[2]
			size := (m-1)*ld + n
			for _, ldy := range []int{0, n, ld} {
				tile, y := side(srcs, 0, size), side(ys, 0, (m-1)*ldy+n)
				for i := range tile {
					if tile[i] = T(math.NaN()); i%ld < n {
						tile[i] = T(r.NormFloat64())
					}
				}
				fillRandom(r, y, 1, len(y), len(y))
				if !c.hasY {
					y = nil
				}
				original := append([]T{}, tile...)
				c.kernel.matrix(tile, ld, tile, ld, y, ldy, m, n, a, b)
				compareMap(t, c, fmt.Sprintf("tile %dx%d ld=%d ldy=%d", m, n, ld, ldy), original, tile, y, n, ld, ldy, a, b)
			}
		}
	}
}

func compareMap[T float](t *testing.T, c mapCase[T], where string, src, dst, ys []T, n, ld, ldy int, a, b float64) {
	t.Helper()
	for i, x := range src {
		j := i % ld
		if j >= n {
			if dst[i] == dst[i] {
				t.Fatalf("cpu: %s %s: [%d,%d] in the padding written: %g", c.name, where, i/ld, j, dst[i])
			}
			continue
		}
		y := 0.0
		if ys != nil {
			y = float64(ys[i/ld*ldy+j])
		}
		want, bound := c.f(float64(x), y, a, b)
		if e := math.Abs(float64(dst[i]) - want); !(e <= bound*gamma[T](1)) {
			t.Fatalf("cpu: %T %s %s: [%d,%d] f(%g, %g) = %g, want %g +- %g", x, c.name, where, i/ld, j, x, y, dst[i], want, bound*gamma[T](1))
		}
	}
}

// TestActivationError checks the documented errors over the range where the functions
// bend, and the limits beyond.
func TestActivationError(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		k32, k64 := vecKernelsFor[float32](isa), vecKernelsFor[float64](isa)
		testActivation(t, "gelu", k32.gelu, gelu, 12, geluBound)
		testActivation(t, "gelu", k64.gelu, gelu, 12, geluBound)
		testActivation(t, "geluTanh", k32.geluTanh, geluTanh, 12, geluBound)
		testActivation(t, "geluTanh", k64.geluTanh, geluTanh, 12, geluBound)
		testActivation(t, "silu", k32.silu, silu, 100, siluBound)
		testActivation(t, "silu", k64.silu, silu, 800, siluBound)
	})
}

func testActivation[T float](t *testing.T, name string, kernel mapKernel[T, T], f func(float64) float64, limit, bound float64) {
	const n = 40001
	x, y := make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(-limit + 2*limit*float64(i)/(n-1))
	}
	kernel.slice(y, x, nil, 0, 0)
	worst := 0.0
	for i := range x {
		e := math.Abs(float64(y[i])-f(float64(x[i]))) / (gamma[T](1) * math.Abs(float64(x[i])))
		if x[i] != 0 {
			worst = math.Max(worst, e)
		}
	}
	t.Logf("%T %s: error %.2f u|x|", x[0], name, worst)
	if !(worst <= bound) {
		t.Errorf("cpu: %T %s: error %g u|x|, documented %g", x[0], name, worst, bound)
	}
	special := []T{0, T(math.Inf(1)), T(math.Inf(-1)), 1e30, -1e30, T(math.NaN())}
	kernel.slice(y[:6], special, nil, 0, 0)
	if y[0] != 0 || y[1] != special[1] || y[2] != 0 || y[3] != 1e30 || y[4] != 0 || y[5] == y[5] {
		t.Errorf("cpu: %s%v = %v", name, special, y[:6])
	}
}

func TestReLUKeepsNaN(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		k := vecKernelsFor[float32](isa)
		x := make([]float32, 100)
		for i := range x {
			x[i] = float32(math.NaN())
		}
		k.relu.slice(x, x, nil, 0, 0)
		for i, v := range x {
			if v == v {
				t.Fatalf("cpu: %s relu(NaN)[%d] = %g", isa, i, v)
			}
		}
	})
}

// Sigmoid keeps its relative precision far from 0, but for what AVX-512 makes of ln2 in fp32: 3e-9 |x|.
func TestSigmoidError(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testSigmoidError[float32](t, isa, 86, 3e-9)
		testSigmoidError[float64](t, isa, 700, 0)
	})
}

func testSigmoidError[T float](t *testing.T, isa ISA, limit, perX float64) {
	const n = 40001
	x, y := make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(-limit + 2*limit*float64(i)/(n-1))
	}
	vecKernelsFor[T](isa).sigmoid.slice(y, x, nil, 0, 0)
	for i, v := range x {
		want := sigmoid(float64(v))
		if e := math.Abs(float64(y[i])/want - 1); !(e <= 6*gamma[T](1)+perX*math.Abs(float64(v))) {
			t.Fatalf("cpu: %s %T sigmoid(%g) = %g, want %g: relative error %g", isa, v, v, y[i], want, e)
		}
	}
}

func TestSigmoidAtEdges(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testSigmoidAtEdges[float32](t, isa, -87)
		testSigmoidAtEdges[float64](t, isa, -708)
	})
}

func testSigmoidAtEdges[T float](t *testing.T, isa ISA, lowest T) {
	x, y := []T{T(math.Inf(1)), 1e30, T(math.Inf(-1)), -1e30, T(math.NaN())}, make([]T, 5)
	vecKernelsFor[T](isa).sigmoid.slice(y, x, nil, 0, 0)
	least := T(sigmoid(float64(lowest)) * 1.000001)
	if y[0] != 1 || y[1] != 1 || !(y[2] >= 0 && y[2] <= least) || !(y[3] >= 0 && y[3] <= least) || y[4] == y[4] {
		t.Errorf("cpu: %s sigmoid%v = %v", isa, x, y)
	}
}

// A row of pairs is a row of SiluMul, whose operands take turns.
func TestSiluMulPairs(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testSiluMulPairs[float32](t, isa)
		testSiluMulPairs[float64](t, isa)
	})
}

func testSiluMulPairs[T float](t *testing.T, isa ISA) {
	k, vl := vecKernelsFor[T](isa), newGEMMKernels[T](isa).vl
	if k.siluMulPairs == nil {
		return
	}
	if nr := newGEMMKernels[T](isa).nr; nr != 2*vl {
		t.Fatalf("cpu: %s: micro-panels of %d, and %d in a vector", isa, nr, vl)
	}
	r := rand.New(rand.NewPCG(17, 18))
	for vectors := 1; vectors <= 9; vectors++ {
		for m := 1; m <= 3; m++ {
			n := vectors * vl
			ldd, lds := n+m%2, 2*n+m%2
			src, dst := guardedOne[T](t, (m-1)*lds+2*n, m%2 == 0), guardedOne[T](t, (m-1)*ldd+n, m%2 == 1)
			fillRandom(r, src, m, 2*n, lds)
			k.siluMulPairs(&dst[0], &src[0], ldd, lds, m, n)
			for i := range m {
				for j := range n {
					at := i*lds + j/vl*2*vl + j%vl
					x, y := float64(src[at]), float64(src[at+vl])
					want, got := silu(x)*y, float64(dst[i*ldd+j])
					if bound := gamma[T](siluBound+1) * math.Abs(x*y); !(math.Abs(got-want) <= bound) {
						t.Fatalf("cpu: %s %T siluMulPairs %dx%d: [%d,%d] = %g, want %g +- %g", isa, x, m, n, i, j, got, want, bound)
					}
				}
			}
		}
	}
}
