package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What layer norm, dropout, batch norm and a masked softmax are made of agrees with plain
// loops in float64, at every length around the unrolled loops, before and behind guard
// pages.
func TestRowKernels(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testRowKernels[float32](t, isa)
		testRowKernels[float64](t, isa)
	})
}

func testRowKernels[T float](t *testing.T, isa ISA) {
	const longest = 150
	k := vecKernelsFor[T](isa)
	r := rand.New(rand.NewPCG(7, 8))
	var buffers [5][2][]T
	for i := range buffers {
		buffers[i] = guardedSlices[T](t, longest)
	}
	for n := 1; n <= longest; n++ {
		var rows [5][]T
		for i, b := range buffers {
			if rows[i] = b[1][:n]; n%2 == 0 {
				rows[i] = b[0][longest-n:]
			}
			fillRandom(r, rows[i], 1, n, n)
		}
		dst, x, y, gamma1, beta := rows[0], rows[1], rows[2], rows[3], rows[4]
		const mean, scale, least, at = 0.25, 1.5, 1 << 29, 77
		check := func(name string, i int, got T, want, bound float64) {
			t.Helper()
			if e := math.Abs(float64(got) - want); !(e <= bound) {
				t.Fatalf("cpu: %s %T %s n=%d: [%d] = %g, want %g +- %g", isa, got, name, n, i, got, want, bound)
			}
		}
		var sum, magnitude, squares, added, addedMagnitude float64
		for i := range x {
			v, w := float64(x[i]), float64(x[i]+y[i])
			sum, magnitude = sum+v, magnitude+math.Abs(v)
			squares += (v - mean) * (v - mean)
			added, addedMagnitude = added+w, addedMagnitude+math.Abs(w)
		}
		check("rowSum", 0, k.rowSum(&x[0], n), sum, gamma[T](n)*magnitude)
		check("rowSquares", 0, k.rowSquares(&x[0], n, mean), squares, gamma[T](n+2)*squares)
		check("addRowSum", 0, k.addRowSum(&dst[0], &x[0], &y[0], n), added, gamma[T](n)*addedMagnitude)
		for i := range x {
			check("addRowSum", i, dst[i], float64(x[i]+y[i]), 0)
		}
		k.normalize(&dst[0], &x[0], &gamma1[0], &beta[0], n, mean, scale)
		for i := range x {
			v, b := (float64(x[i])-mean)*scale*float64(gamma1[i]), float64(beta[i])
			check("normalize", i, dst[i], v+b, gamma[T](4)*(math.Abs(v)+math.Abs(b)))
		}
		k.dropout(&dst[0], &x[0], n, scale, least, at)
		for i := range x {
			v := scale * float64(x[i])
			if mix(at+uint32(i+1)*weyl) < least {
				v = 0
			}
			check("dropout", i, dst[i], v, gamma[T](1)*math.Abs(v))
		}
		// Rows of one element to all, each with its own factor.
		for _, m := range []int{1, 2, n} {
			cols := n / m
			if cols == 0 {
				continue
			}
			k.affineRows(&dst[0], &x[0], &gamma1[0], &beta[0], cols, cols, m, cols)
			for i := range m * cols {
				v, b := float64(x[i])*float64(gamma1[i/cols]), float64(beta[i/cols])
				check("affineRows", i, dst[i], v+b, gamma[T](2)*(math.Abs(v)+math.Abs(b)))
			}
		}
	}
}
