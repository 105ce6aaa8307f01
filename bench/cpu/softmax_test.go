package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// expUlps is twice the documented error of exp: an ulp is at most 2u.
const expUlps = 2

// softmaxRow is softmax(scale x) and the bound of the relative error of a kernel:
// the exponent is rounded like its terms, exp once more, then the sum of n terms
// and the division.
func softmaxRow[T float](x []T, scale float64) (p []float64, bound float64) {
	largest, span := math.Inf(-1), 0.0
	for _, v := range x {
		largest = math.Max(largest, float64(v)*scale)
	}
	p = make([]float64, len(x))
	sum := 0.0
	for j, v := range x {
		p[j] = math.Exp(float64(v)*scale - largest)
		sum += p[j]
		span = math.Max(span, math.Abs(float64(v)*scale)+math.Abs(largest))
	}
	for j := range p {
		p[j] /= sum
	}
	return p, 2*(2*span*gamma[T](1)+expUlps*gamma[T](1)) + gamma[T](len(x)+3)
}

func TestSoftmax(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testSoftmax[float32](t, isa)
		testSoftmax[float64](t, isa)
	})
}

func testSoftmax[T float](t *testing.T, isa ISA) {
	k := vecKernelsFor[T](isa)
	r := rand.New(rand.NewPCG(5, 6))
	lengths := []int{200, 257, 1024, vecCall + 5}
	for n := 1; n <= 130; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		const rows = 4
		ld := n + n%3
		front := n%2 == 1
		var of [5][]T // the source, what it becomes, a mask, the result with it, and past the caches
		for i := range of {
			of[i] = guardedOne[T](t, (rows-1)*ld+n, front)
		}
		x, y, mask, masked, past := of[0], of[1], of[2], of[3], of[4]
		room := guardedOne[T](t, n, front)
		sums := make([]T, len(x))
		for i := range x {
			x[i], y[i], mask[i], masked[i], past[i] = T(math.NaN()), T(math.NaN()), T(math.NaN()), T(math.NaN()), T(math.NaN())
			if i%ld < n {
				x[i], mask[i] = T(10*r.NormFloat64()-50), T(r.NormFloat64())
			}
			sums[i] = x[i] + mask[i]
		}
		const scale = 0.125
		original := append([]T{}, x...)
		k.softmax(y, ld, x, ld, nil, 0, rows, n, scale)
		k.softmax(masked, ld, x, ld, mask, ld, rows, n, scale)
		k.softmaxBy(&room[0], pastCaches, past, ld, x, ld, mask, ld, rows, n, scale)
		k.softmax(x, ld, x, ld, nil, 0, rows, n, scale)
		for _, c := range []struct{ from, got []T }{{original, y}, {original, x}, {sums, masked}, {sums, past}} {
			for i := range rows {
				want, bound := softmaxRow(c.from[i*ld:][:n], scale)
				for j, w := range want {
					got := c.got[i*ld+j]
					if e := math.Abs(float64(got) - w); !(e <= bound*w) {
						t.Fatalf("cpu: %s %T softmax n=%d: [%d,%d] = %g, want %g +- %g", isa, got, n, i, j, got, w, bound*w)
					}
				}
			}
		}
		for i, v := range y {
			if i%ld >= n && v == v {
				t.Fatalf("cpu: %s %T softmax n=%d: padding [%d] written", isa, v, n, i)
			}
		}
	}
}

// TestSoftmaxOfExtremes has exponents that overflow without the maximum, masked
// elements and underflow.
func TestSoftmaxOfExtremes(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		k := vecKernelsFor[float32](isa)
		x := make([]float32, 50)
		for i := range x {
			x[i] = float32(math.Inf(-1))
		}
		x[7], x[41], x[3] = 3e4, 3e4, 1
		k.softmax(x, 50, x, 50, nil, 0, 1, 50, 1)
		for i, v := range x {
			want := float32(0)
			if i == 7 || i == 41 {
				want = 0.5
			}
			if v != want {
				t.Fatalf("cpu: %s softmax[%d] = %g, want %g", isa, i, v, want)
			}
		}
		x[9] = float32(math.NaN())
		k.softmax(x, 50, x, 50, nil, 0, 1, 50, 1)
		if x[0] == x[0] {
			t.Fatalf("cpu: %s softmax of a NaN gives %g", isa, x[0])
		}
	})
}

// The largest magnitudes for which a softmax is made: of equal ones all get the same, and one that
// is larger takes all.
func TestSoftmaxOfLargest(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testSoftmaxOfLargest[float32](t, isa, 0x1.fffffep29)
		testSoftmaxOfLargest[float64](t, isa, 0x1.fffffffffffffp61)
	})
}

func testSoftmaxOfLargest[T float](t *testing.T, isa ISA, largest T) {
	k := vecKernelsFor[T](isa)
	const n = 64
	for _, sign := range []T{-1, 1} {
		x := repeated(sign*largest, n)
		k.softmax(x, n, x, n, nil, 0, 1, n, 1)
		for i, v := range x {
			if bound := gamma[T](n+3) / n; !(math.Abs(float64(v)-1./n) <= bound) {
				t.Fatalf("cpu: %s softmax of %g: [%d] = %g, want 1/%d +- %g", isa, sign*largest, i, v, n, bound)
			}
		}
	}
	x := repeated(-largest, n)
	x[n-1] = largest
	k.softmax(x, n, x, n, nil, 0, 1, n, 1)
	for i, v := range x {
		if want := float64(i / (n - 1)); !(math.Abs(float64(v)-want) <= want*gamma[T](n+3)) {
			t.Fatalf("cpu: %s softmax of %g and %g: [%d] = %g, want %g", isa, -largest, largest, i, v, want)
		}
	}
	x = repeated(T(math.Inf(-1)), n)
	k.softmax(x, n, x, n, nil, 0, 1, n, 1)
	if x[0] == x[0] {
		t.Errorf("cpu: %s softmax of nothing but -Inf gives %g", isa, x[0])
	}
}

func TestColumnKernels(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testColumns[float32](t, isa)
		testColumns[float64](t, isa)
	})
}

func testColumns[T float](t *testing.T, isa ISA) {
	k := vecKernelsFor[T](isa)
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n <= 70; n++ {
		m, ld := 1+n%9, n+n%4
		front := n%2 == 1
		x := guardedOne[T](t, (m-1)*ld+n, front)
		largest, shift, sum := guardedOne[T](t, n, front), guardedOne[T](t, n, front), guardedOne[T](t, n, front)
		for i := range x {
			if x[i] = T(math.NaN()); i%ld < n {
				x[i] = T(r.NormFloat64())
			}
		}
		for j := range n {
			largest[j], shift[j], sum[j] = 0.25, T(-5-r.Float64()), T(j)
		}
		original := append([]T{}, x...)
		k.colMax(&largest[0], &x[0], ld, m, n)
		k.colExpSum(&x[0], &x[0], &shift[0], &sum[0], ld, m, n, 0.5)
		for j := range n {
			wantMax, wantSum, bound := 0.25, float64(j), float64(j)
			for i := range m {
				v := float64(original[i*ld+j])
				wantMax = math.Max(wantMax, v)
				p := math.Exp(v*0.5 + float64(shift[j]))
				tolerance := (expUlps + 2*(math.Abs(v)+math.Abs(float64(shift[j])))) * gamma[T](1) * p
				if e := math.Abs(float64(x[i*ld+j]) - p); !(e <= tolerance) {
					t.Fatalf("cpu: %s %T colExpSum %dx%d: [%d,%d] = %g, want %g +- %g", isa, x[0], m, n, i, j, x[i*ld+j], p, tolerance)
				}
				wantSum += p
				bound += p + tolerance/gamma[T](m+1)
			}
			if float64(largest[j]) != wantMax {
				t.Fatalf("cpu: %s %T colMax %dx%d: [%d] = %g, want %g", isa, x[0], m, n, j, largest[j], wantMax)
			}
			if e := math.Abs(float64(sum[j]) - wantSum); !(e <= gamma[T](m+1)*bound) {
				t.Fatalf("cpu: %s %T colExpSum %dx%d: sum[%d] = %g, want %g", isa, x[0], m, n, j, sum[j], wantSum)
			}
		}
		for i, v := range x {
			if i%ld >= n && v == v {
				t.Fatalf("cpu: %s %T colExpSum %dx%d: padding [%d] written", isa, v, m, n, i)
			}
		}
	}
}

// TestDots has queries and keys with lds larger than d and guard pages behind the last.
func TestDots(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testDots[float32](t, isa)
		testDots[float64](t, isa)
	})
}

func testDots[T float](t *testing.T, isa ISA) {
	kernels := vecKernelsFor[T](isa)
	r := rand.New(rand.NewPCG(11, 12))
	for d := 1; d <= 70; d++ {
		m, n := 1+d%7, 4+d%3*4
		ldq, ldk := d+d%4, d+d%5
		q, k := guardedOne[T](t, (m-1)*ldq+d, false), guardedOne[T](t, (n-1)*ldk+d, false)
		fillRandom(r, q, m, d, ldq)
		fillRandom(r, k, n, d, ldk)
		// As rows of sums, and in steps of four keys.
		for _, to := range [][2]int{{n + 1, 4}, {4, 4 * m}} {
			row, step := to[0], to[1]
			s := guardedOne[T](t, (m-1)*row+(n/4-1)*step+4, false)
			kernels.dots(m, n, d, &q[0], ldq, &k[0], ldk, &s[0], row, step, 8*ldk, n%8 == 0)
			for i := range m {
				for j := range n {
					want, magnitude := 0.0, 0.0
					for p := range d {
						product := float64(q[i*ldq+p]) * float64(k[j*ldk+p])
						want += product
						magnitude += math.Abs(product)
					}
					got := float64(s[i*row+j/4*step+j%4])
					if bound := gamma[T](d) * magnitude; !(math.Abs(got-want) <= bound) {
						t.Fatalf("cpu: %s %T dots %dx%dx%d: [%d,%d] = %g, want %g +- %g", isa, q[0], m, n, d, i, j, got, want, bound)
					}
				}
			}
		}
	}
}

func TestCopyColumns(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testCopyColumns[float32](t, isa)
		testCopyColumns[float64](t, isa)
	})
}

func testCopyColumns[T float](t *testing.T, isa ISA) {
	k := vecKernelsFor[T](isa)
	r := rand.New(rand.NewPCG(13, 14))
	for n := 1; n <= newGEMMKernels[T](isa).mr; n++ {
		for m := 1; m <= 11; m++ {
			lds := n + m%3
			src, dst := guardedOne[T](t, (m-1)*lds+n, m%2 == 0), guardedOne[T](t, m*n, m%2 == 1)
			fillRandom(r, src, m, n, lds)
			k.copyColumns(&dst[0], &src[0], lds, m, n)
			for i, v := range dst {
				if want := src[i/n*lds+i%n]; v != want {
					t.Fatalf("cpu: %s %T copyColumns %dx%d: [%d] = %g, want %g", isa, v, m, n, i, v, want)
				}
			}
		}
	}
}
