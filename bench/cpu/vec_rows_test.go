package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
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
		nt := cached
		if n%4 == 1 { // rows begin a page
			nt = pastCaches + nontemporal(n/4%2)
		}
		check := func(name string, i int, got T, want, bound float64) {
			t.Helper()
			if e := math.Abs(float64(got) - want); !(e <= bound) {
				t.Fatalf("cpu: %s %T %s n=%d: [%d] = %g, want %g +- %g", isa, got, name, n, i, got, want, bound)
			}
		}
		var distance float64
		for i := range x {
			d := float64(x[i]) - float64(y[i])
			distance += d * d
		}
		check("rowDistance", 0, k.rowDistance(&x[0], &y[0], n, n%2 == 0), distance, gamma[T](n+4)*distance)
		for _, m := range []int{1, 2, 3} {
			testRowsOf(t, isa, m, n/m, rows, nt)
		}
		k.dropout(&dst[0], &x[0], n, scale, least, at, nt)
		for i := range x {
			v := scale * float64(x[i])
			if mix(at+uint32(i+1)*weyl) < least {
				v = 0
			}
			check("dropout", i, dst[i], v, gamma[T](1)*math.Abs(v))
		}
		k.addGeluDropout(&dst[0], &x[0], &y[0], n, scale, least, at, nt)
		for i := range x {
			sum := float64(x[i] + y[i])
			v := scale * gelu(sum)
			if mix(at+uint32(i+1)*weyl) < least {
				v = 0
			}
			check("addGeluDropout", i, dst[i], v, gamma[T](geluBound+1)*scale*math.Abs(sum))
		}
		const cells = 12 // rows of each column
		if n%cells == 0 {
			cols := n / cells
			copy(dst[:cols], y)
			k.colSum(&dst[0], &x[0], cols, cells, cols)
			for j := range cols {
				sum, magnitude := float64(y[j]), math.Abs(float64(y[j]))
				for i := range cells {
					v := float64(x[i*cols+j])
					sum, magnitude = sum+v, magnitude+math.Abs(v)
				}
				check("colSum", j, dst[j], sum, gamma[T](cells)*magnitude)
			}
			index := []int32{int32(cells - 1), 0, 3, 3}
			for _, m := range []int{3, len(index)} {
				k.gatherRows(&dst[0], &x[0], &index[0], cols, cols, m, cols, len(index), nt)
				for i := range m * cols {
					check("gatherRows", i, dst[i], float64(x[int(index[i/cols])*cols+i%cols]), 0)
				}
			}
		}
		// Rows of one element to all, each with its own factor.
		for _, m := range []int{1, 2, n} {
			cols := n / m
			if cols == 0 {
				continue
			}
			k.affineRows(&dst[0], &x[0], &gamma1[0], &beta[0], cols, cols, m, cols, nt)
			for i := range m * cols {
				v, b := float64(x[i])*float64(gamma1[i/cols]), float64(beta[i/cols])
				check("affineRows", i, dst[i], v+b, gamma[T](2)*(math.Abs(v)+math.Abs(b)))
			}
		}
	}
}

// Rows that begin a line can be stored past the caches. Those that do not stay in L1 with the next one are
// finished before it.
func TestRowsOfLines(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, n := range []int{64, 2128} { // the latter past 8 KiB in either type
			testRowsOfLines[float32](t, isa, n)
			testRowsOfLines[float64](t, isa, n)
		}
	})
}

func testRowsOfLines[T float](t *testing.T, isa ISA, n int) {
	const m = 3
	r := rand.New(rand.NewPCG(9, 10))
	var rows [5][]T
	for i := range rows {
		rows[i] = guardedOne[T](t, m*n, false)
		fillRandom(r, rows[i], m, n, n)
	}
	testRowsOf(t, isa, m, n, rows, cached)
	testRowsOf(t, isa, m, n, rows, pastCaches)
}

// Long rows are normalised together: a group that is not full, one and a row, several. Blocks of theirs are ragged.
func TestLongNorms(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, m := range []int{1, 3, longRows + 1, 2*longRows + 5} {
			for _, n := range []int{2048, 2128} {
				testLongNorms[float32](t, isa, m, n)
				testLongNorms[float64](t, isa, m, n)
			}
		}
	})
}

func testLongNorms[T float](t *testing.T, isa ISA, m, n int) {
	const eps = 0.125
	k := vecKernelsFor[T](isa)
	if k.layerBlock == nil {
		t.Skipf("%s has no kernel for a part of a row", isa)
	}
	r := rand.New(rand.NewPCG(13, 14))
	src, y, dst := guardedOne[T](t, m*n, false), guardedOne[T](t, m*n, false), guardedOne[T](t, m*n, false)
	weights, beta := guardedOne[T](t, n, true), guardedOne[T](t, n, true)
	for _, x := range [][]T{src, y, weights, beta} {
		fillRandom(r, x, 1, len(x), len(x))
	}
	for i := range src {
		src[i] += T(i / n) // rows of different means
	}
	alone := func(i int) float64 { return float64(src[i]) }
	l1 := cacheSizes{L1: 8192}
	for _, c := range []struct {
		name string
		long *longNorm[T, T]
		y    []T
		x    func(i int) float64
	}{
		{"layer norm", newLongNorm(l1, k.layerBlock, k.rowSums, weights, beta, eps), nil, alone},
		{"layer norm of sums", newLongNorm(l1, k.addLayerBlock, k.rowSums, weights, beta, eps), y, func(i int) float64 { return float64(src[i] + y[i]) }},
		{"layer norm in the caches", newNearNorm(l1, k.layerNearBlock, k.rowSums, weights, beta, eps), nil, alone},
		{"root mean square", newLongNorm(l1, k.rmsBlock, k.rowSums, weights, nil, eps), nil, alone},
	} {
		if !c.long.takes(dst, pastCaches) {
			t.Fatalf("cpu: %s: rows of %d lie in the caches or begin no lines", c.name, n)
		}
		clear(dst)
		c.long.rows(dst, src, c.y)
		checkNorm(t, fmt.Sprintf("%s %T long %s", isa, dst[0], c.name), m, n, dst, weights, beta, c.long.beta != nil, eps, c.x)
	}
}

// A layer norm keeps its digits in rows far from 0, in rows that begin with outliers, from which the
// sums are shifted, and in constant ones, whose variance is 0.
func TestLayerNormDigits(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testLayerNormDigits[float32](t, isa)
		testLayerNormDigits[float64](t, isa)
	})
}

func testLayerNormDigits[T float](t *testing.T, isa ISA) {
	k := vecKernelsFor[T](isa)
	testDigits(t, isa, 4099, func(dst, x, weights, zeros []T, eps T) {
		n := len(x)
		k.layerNorm(&dst[0], &x[0], &weights[0], &zeros[0], n, n, 1, n, eps, cached)
	})
	if k.layerBlock == nil {
		return
	}
	testDigits(t, isa, 4096, func(dst, x, weights, zeros []T, eps T) {
		newLongNorm(cacheSizes{}, k.layerBlock, k.rowSums, weights, zeros, eps).rows(dst, x, nil)
	})
}

// testDigits holds the layer norm of a row of n elements, all of the weight 1, against an exact one.
func testDigits[T float](t *testing.T, isa ISA, n int, norm func(dst, x, weights, zeros []T, eps T)) {
	const eps = 1e-12
	x, y, weights, zeros := make([]T, n), guardedOne[T](t, n, false), repeated[T](1, n), make([]T, n)
	for name, row := range map[string]func(j int) int{
		"far from 0":    func(j int) int { return 1000 + j%7 },
		"one outlier":   func(j int) int { return j%7 + 1000*max(0, 1-j) },
		"many outliers": func(j int) int { return j%7 + 1000*max(0, min(1, 64-j)) },
		"constant":      func(int) int { return 700001 }, // of sums that fp32 has to round
	} {
		sum, squares := 0, 0 // exact, as their differences are
		for j := range x {
			x[j] = T(row(j))
			sum, squares = sum+row(j), squares+row(j)*row(j)
		}
		norm(y, x, weights, zeros, eps)
		scale := 1 / math.Sqrt(float64(n*squares-sum*sum)/float64(n*n)+eps)
		for j, v := range y {
			want := float64(n*row(j)-sum) / float64(n) * scale
			// The scale is as exact as a sum of n squares, the mean far more. A constant has no deviations.
			bound := gamma[T](n)*math.Abs(want) + gamma[T](64)*1000*scale
			if name == "constant" {
				bound = 0
			}
			if e := math.Abs(float64(v) - want); !(e <= bound) {
				t.Fatalf("cpu: %s %T, %s: [%d] = %g, want %g +- %g", isa, v, name, j, v, want, bound)
			}
		}
	}
}

// Only the distance to the maximum counts in a sum of exponentials, not how far from 0 it lies.
func TestExpSumsFarFromZero(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testExpSumsFarFromZero[float32](t, isa)
		testExpSumsFarFromZero[float64](t, isa)
	})
}

func testExpSumsFarFromZero[T float](t *testing.T, isa ISA) {
	const m, n = 2, 37
	x, sums, largest := make([]T, m*n), make([]T, m), make([]T, m)
	for _, far := range []float64{-1e8, -3001, 0, 1000, 5e5, 1e9} {
		for i := range x {
			x[i] = T(far - float64(i%9))
		}
		vecKernelsFor[T](isa).rowExpSums(&sums[0], &largest[0], &x[0], n, m, n)
		for i, got := range sums {
			row, want := x[i*n:][:n], 0.0
			most := float64(slices.Max(row))
			for _, v := range row {
				want += math.Exp(float64(v) - most)
			}
			// As in testRowsOf, arguments reach down to -8.
			if e := math.Abs(float64(got) - want); float64(largest[i]) != most || !(e <= gamma[T](n+16)*want) {
				t.Errorf("cpu: %s %T rowExpSums near %g: [%d] = %g of %g, want %g of %g", isa, got, far, i, got, largest[i], want, most)
			}
		}
	}
}

// Squares of several sizes change rows and columns, stored past the caches or not.
func TestTranspose(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		testTranspose(t, isa, vecKernelsFor[float32](isa).transpose)
		testTranspose(t, isa, vecKernelsFor[float64](isa).transpose)
		testTranspose(t, isa, vecKernelsFor[float32](isa).transposeHalves)
	})
}

func testTranspose[E inMemory](t *testing.T, isa ISA, transpose transposition[E]) {
	side := squareOf[E](isa)
	for _, size := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 2}} {
		m, n := size[0]*side, size[1]*side
		src, dst := guardedOne[E](t, m*n, true), guardedOne[E](t, m*n, true)
		for i := range src {
			src[i] = E(i)
		}
		for _, nt := range everyNontemporal {
			if m*int(unsafe.Sizeof(src[0]))%64 != 0 {
				nt = cached
			}
			for _, next := range []*E{nil, &src[0]} {
				clear(dst)
				transpose(&dst[0], &src[0], next, m, n, m, n, nt)
				for i := range src {
					if got := dst[i%n*m+i/n]; got != src[i] {
						t.Fatalf("cpu: %s %T %dx%d%s: [%d,%d] = %v, want %v", isa, got, m, n, nt.suffix(), i%n, i/n, got, src[i])
					}
				}
			}
		}
	}
}

// testRowsOf checks what is done to each of m rows of n elements.
func testRowsOf[T float](t *testing.T, isa ISA, m, n int, rows [5][]T, nt nontemporal) {
	if n == 0 {
		return
	}
	const eps = 0.125
	k := vecKernelsFor[T](isa)
	dst, x, y, weights, beta := rows[0], rows[1], rows[2], rows[3], rows[4]
	check := func(name string, i, j int, got T, want, bound float64) {
		t.Helper()
		if e := math.Abs(float64(got) - want); !(e <= bound) {
			t.Fatalf("cpu: %s %T %s %dx%d: [%d,%d] = %g, want %g +- %g", isa, got, name, m, n, i, j, got, want, bound)
		}
	}
	var sums, maxima, exponentials, largest [3]T
	k.rowSums(&sums[0], &x[0], n, m, n)
	k.rowMaxes(&maxima[0], &x[0], n, m, n)
	k.rowExpSums(&exponentials[0], &largest[0], &x[0], n, m, n)
	for i := range m {
		row := x[i*n:][:n]
		most, sum, magnitude, e := float64(slices.Max(row)), 0.0, 0.0, 0.0
		for _, v := range row {
			sum, magnitude = sum+float64(v), magnitude+math.Abs(float64(v))
			e += math.Exp(float64(v) - most)
		}
		check("rowSums", i, 0, sums[i], sum, gamma[T](n)*magnitude)
		check("rowMaxes", i, 0, maxima[i], most, 0)
		check("rowExpSums", i, 0, largest[i], most, 0)
		// Arguments reach down to -8, where a rounding is as many ulp of the result.
		check("rowExpSums", i, 1, exponentials[i], e, gamma[T](n+16)*e)
	}
	norm := func(name string, layer bool, x func(i int) float64) {
		t.Helper()
		checkNorm(t, fmt.Sprintf("%s %T %s", isa, dst[0], name), m, n, dst, weights, beta, layer, eps, x)
	}
	alone := func(i int) float64 { return float64(x[i]) }
	k.rmsNorm(&dst[0], &x[0], &weights[0], n, n, m, n, eps, nt)
	norm("rmsNorm", false, alone)
	k.layerNorm(&dst[0], &x[0], &weights[0], &beta[0], n, n, m, n, eps, nt)
	norm("layerNorm", true, alone)
	var room *T
	if nt != cached {
		room = &guardedOne[T](t, 2*n, false)[0]
	}
	k.addLayerNorm(&dst[0], &x[0], &y[0], &weights[0], &beta[0], room, n, n, n, m, n, eps, nt)
	norm("addLayerNorm", true, func(i int) float64 { return float64(x[i] + y[i]) })
	copy(dst, x)
	k.layerNorm(&dst[0], &dst[0], &weights[0], &beta[0], n, n, m, n, eps, cached)
	norm("layerNorm in place", true, alone)
}

// checkNorm holds m rows of n elements against a layer norm, or that of the root mean square, of x.
func checkNorm[T float](t *testing.T, name string, m, n int, dst, weights, beta []T, layer bool, eps float64, x func(i int) float64) {
	t.Helper()
	for i := range m {
		mean, squares := 0.0, 0.0
		for j := range n {
			if layer {
				mean += x(i*n+j) / float64(n)
			}
		}
		for j := range n {
			squares += (x(i*n+j) - mean) * (x(i*n+j) - mean)
		}
		scale := 1 / math.Sqrt(squares/float64(n)+eps)
		for j := range n {
			w := float64(weights[j])
			want, off := (x(i*n+j)-mean)*scale*w, (math.Abs(x(i*n+j))+math.Abs(mean)+1)*scale*math.Abs(w)
			if layer {
				want, off = want+float64(beta[j]), off+math.Abs(float64(beta[j]))
			}
			got, bound := float64(dst[i*n+j]), gamma[T](n+8)*off*(1+scale)
			if e := math.Abs(got - want); !(e <= bound) {
				t.Fatalf("cpu: %s %dx%d: [%d,%d] = %g, want %g +- %g", name, m, n, i, j, got, want, bound)
			}
		}
	}
}

// The parts of the workers cover a matrix, and no place twice.
func TestTransposeParts(t *testing.T) {
	for threads := 1; threads <= 12; threads++ {
		for _, size := range [][2]int{{1, 1}, {7, 40}, {100, 3}, {64, 64}, {130, 50}, {40000, 20}} {
			m, n := size[0], size[1]
			times := make([]int, m*n)
			rows, cols := transposeParts(threads, m, n, 4, 32, 16)
			for id := range threads {
				for i := rows[id].lo; i < rows[id].hi; i++ {
					for j := cols[id].lo; j < cols[id].hi; j++ {
						times[i*n+j]++
					}
				}
			}
			if slices.Min(times) != 1 || slices.Max(times) != 1 {
				t.Errorf("%d workers, %dx%d: %v %v", threads, m, n, rows, cols)
			}
		}
	}
}
