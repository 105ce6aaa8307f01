package cpu

// inOrder transposes any number of rows by a kernel that takes from n rows, those of
// a lane, to vl. The last group overlaps the one before it instead of being too small.
func inOrder[T float](n, vl int, f func(dst *T, ldd int, src *T, lds, rows, k int, order *[16]int32)) func(dst *T, ldd int, src *T, lds, rows, k int) {
	var orders [17][16]int32
	for rows := n; rows <= vl; rows++ {
		for r := range rows {
			first := min(r/n*n, rows-n) // row of the lane that r is in
			at := r/n*n + r - first
			words := 16 / vl // of an element
			for w := range words {
				orders[rows][r*words+w] = int32(at*words + w)
			}
		}
	}
	return func(dst *T, ldd int, src *T, lds, rows, k int) {
		for i := 0; i < rows; i += vl {
			count := min(vl, rows-i)
			if count < n {
				i, count = rows-n, n
			}
			f(at(dst, i), ldd, at(src, i*lds), lds, count, k, &orders[count])
		}
	}
}

// The functions below do what transposePortable does for k a multiple of the vector
// length. Row i of the result is taken from place order[i], in words of 4 bytes, of
// the lanes: see the generator.

//go:noescape
func sgemmTransposeAVX512(dst *float32, ldd int, src *float32, lds, rows, k int, order *[16]int32)

//go:noescape
func dgemmTransposeAVX512(dst *float64, ldd int, src *float64, lds, rows, k int, order *[16]int32)

// The functions below do it for 16 bytes worth of rows (4 of float32, 2 of float64).

//go:noescape
func sgemmTransposeAVX2(dst *float32, ldd int, src *float32, lds, k int)

//go:noescape
func dgemmTransposeAVX2(dst *float64, ldd int, src *float64, lds, k int)

// The functions below do what copyRowsPortable does with nr two vectors.

//go:noescape
func sgemmCopyRowsAVX512(dst, src *float32, lds, k int)

//go:noescape
func dgemmCopyRowsAVX512(dst, src *float64, lds, k int)

//go:noescape
func sgemmCopyRowsAVX2(dst, src *float32, lds, k int)

//go:noescape
func dgemmCopyRowsAVX2(dst, src *float64, lds, k int)
