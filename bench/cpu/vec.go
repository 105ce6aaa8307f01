package cpu

import "unsafe"

// inMemory are the types of stored elements: the type in which is computed, or halves, of 16 bits.
type inMemory interface{ float | uint16 }

// mapOf is an element-wise operation on an m x n matrix,
//
//	dst[i*ldd+j] = f(src[i*lds+j], y[i*ldy+j], a, b)
//
// where f uses what it needs of y, a and b. With ldy = 0 all rows meet the same y, as
// they do a bias. dst may be src. m and n are positive. The methods take slices,
// of any length, and bound the time of one call, which the collector cannot
// interrupt. Unless nt is cached, rows that begin with a cache line are stored past the caches, and
// what other threads are to read needs a storeFence.
type mapOf[X, Y inMemory, T float] func(dst, src *X, y *Y, ldd, lds, ldy, m, n int, a, b T, nt nontemporal)

// In a mapKernel src, dst and y are stored elements. In a joinKernel only y is: src and dst are in T, in a buffer in L1.
type (
	mapKernel[S inMemory, T float]  = mapOf[S, S, T]
	joinKernel[S inMemory, T float] = mapOf[T, S, T]
)

// storing is the kernel with the choice of nt made.
func (f mapOf[X, Y, T]) storing(nt nontemporal) mapOf[X, Y, T] {
	if nt == cached {
		return f
	}
	return func(dst, src *X, y *Y, ldd, lds, ldy, m, n int, a, b T, _ nontemporal) {
		f(dst, src, y, ldd, lds, ldy, m, n, a, b, nt)
	}
}

// storedKernels are the element-wise kernels and the reductions of one element type for one instruction set:
// what is computed in T is S in memory, to which it is rounded once, to nearest, ties to even. Rounded to bf16,
// what is below the normal numbers may be 0.
//
// The errors of the assembly are the largest found in units in the last place (fp32:
// all arguments on AVX2, every 101st on AVX-512, against float64; fp64: 60000 random ones, against
// 200 bits). u is 2^-24 or 2^-53. NaN gives NaN, but may be lost in a maximum; the limits at
// infinity are exact, but for that of sigmoid. exp underflows gradually.
type storedKernels[S inMemory, T float] struct {
	exp      mapKernel[S, T] // e^x; 0.96 ulp fp32, 0.86 ulp fp64
	tanh     mapKernel[S, T] // tanh(x); 2.6 ulp fp32, 2.5 ulp fp64
	relu     mapKernel[S, T] // max(x, 0), NaN for NaN
	gelu     mapKernel[S, T] // x/2 (1 + erf(x/sqrt 2)); 1.33 u|x| fp32, 2.2 u|x| fp64
	silu     mapKernel[S, T] // x/(1 + e^-x)
	scale    mapKernel[S, T] // a x
	add      mapKernel[S, T] // x + y
	mul      mapKernel[S, T] // x y
	sub      mapKernel[S, T] // x - y
	div      mapKernel[S, T] // x / y
	geluTanh mapKernel[S, T] // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
	sigmoid  mapKernel[S, T] // 1/(1 + e^-x); of x below -87 in fp32, or -708 in fp64, at most what it is there

	addFar joinKernel[S, T] // x + y, for y that comes from memory
	maxFar joinKernel[S, T] // max(x, y), likewise

	// keep rounds results to what they are in memory; it is nil where they stay the same.
	keep func(dst []S, src []T)
	// take widens what is in memory, likewise.
	take func(dst []T, src []S)

	// affineRows writes dst[i*ldd+j] = a[i] src[i*lds+j] + b[i].
	affineRows func(dst, src *S, a, b *T, ldd, lds, m, n int, nt nontemporal)
	// rowSums and rowMaxes write dst[i] = the sum or the maximum of src[i*lds:] over n > 0
	// elements, for m rows.
	rowSums, rowMaxes func(dst *T, src *S, lds, m, n int)
	// rowExpSums writes largest[i] = the maximum of src[i*lds:] over n > 0 elements, and
	// sums[i] = the sum of e^(x - largest[i]), for m rows. x is below a magnitude as in softmaxRows.
	rowExpSums func(sums, largest *T, src *S, lds, m, n int)
	// rowDistance is the sum of (x - y)^2 over n elements, which come from memory if they are far.
	rowDistance func(src, y *S, n int, far bool) T
	// layerNorm writes dst[i*ldd+j] = (x - mean) / sqrt(variance + eps) gamma[j] + beta[j]
	// with x = src[i*lds+j] for m rows of n elements. dst may be src. Where the sum of the squares of the deviations
	// overflows, as for all norms, results are 0 or NaN.
	layerNorm func(dst, src *S, gamma, beta *T, ldd, lds, m, n int, eps T, nt nontemporal)
	// addLayerNorm is the same with x = src[i*lds+j] + y[i*ldy+j]. It needs room for 2n elements to store past the
	// caches, or halves.
	addLayerNorm func(dst, src, y *S, gamma, beta, room *T, ldd, lds, ldy, m, n int, eps T, nt nontemporal)
	// rmsNorm writes dst[i*ldd+j] = x / sqrt(mean square + eps) gamma[j] with x = src[i*lds+j]
	// for m rows of n elements. dst may be src.
	rmsNorm func(dst, src *S, gamma *T, ldd, lds, m, n int, eps T, nt nontemporal)
	// layerBlock, addLayerBlock and rmsBlock are those of a part of a long row, stored past the caches; rmsBlock reads no
	// beta, mean or shift. layerNearBlock is layerBlock with ordinary stores, and nil for halves. All of them are nil in
	// portable code, with NEON, and where halves go through fp32 in memory.
	layerBlock, addLayerBlock, rmsBlock, layerNearBlock normBlock[S, T]
	// dropout writes dst[j] = scale src[j], or 0 where mix(at + (j+1) weyl) < least.
	dropout func(dst, src *S, n int, scale T, least, at uint32, nt nontemporal)
	// addGeluDropout does so with gelu(src[j] + y[j]).
	addGeluDropout func(dst, src, y *S, n int, scale T, least, at uint32, nt nontemporal)
	// softmaxRows writes dst[i*ldd+j] = e^(scale (x - max)) / sum, where x is src[i*lds+j],
	// or the sum of that and y[i*ldy+j] if y is not nil, with the maximum of row i and the
	// sum over it, for m rows of n elements. Denormal results may be 0. dst may be src. It needs
	// room for a row to store past the caches, or halves. The magnitude of scale x is below 2^30 in
	// fp32 and 2^62 in fp64, or x is -Inf: beyond, the product and the maximum differ by a rounding
	// that no exponent holds. A row of -Inf alone gives NaN.
	softmaxRows func(dst, src, y *S, room *T, ldd, lds, ldy, m, n int, scale T, nt nontemporal)
	// colMax raises dst[j] to the maximum of column j of an m x n matrix, colSum adds the
	// sum of the column.
	colMax, colSum func(dst *T, src *S, ld, m, n int)
}

// vecKernels are those of fp32 or fp64, and more: what is done in layers, whose elements stay in the caches, and what
// only moves elements.
type vecKernels[T float] struct {
	storedKernels[T, T]

	erf     mapKernel[T, T] // erf(x); 3.1 ulp fp32, 2.7 ulp fp64
	log     mapKernel[T, T] // ln(x) of a positive normal number; 2.0 ulp fp32, 2.1 ulp fp64
	affine  mapKernel[T, T] // a x + b
	addRelu mapKernel[T, T] // max(x + y, 0)
	addGelu mapKernel[T, T] // gelu(x + y)
	addSilu mapKernel[T, T] // silu(x + y)
	siluMul mapKernel[T, T] // silu(x) y
	// siluMulPairs is that of m rows of n elements, of whole vectors: src has a vector of x and one of y in turn. nil
	// where there is none.
	siluMulPairs func(dst, src *T, ldd, lds, m, n int)
	max          mapKernel[T, T] // max(x, y)
	copy         mapKernel[T, T] // x
	set          mapKernel[T, T] // b; src is not read

	// gatherRows writes dst[i*ldd+j] = src[index[i]*lds+j]. Of index known elements may be read, m or more: rows
	// behind those that are copied are fetched.
	gatherRows func(dst, src *T, index *int32, ldd, lds, m, n, known int, nt nontemporal)
	// colExpSum writes dst[i][j] = e^(scale src[i][j] + shift[j]) and adds column
	// j to sum[j]. Both matrices have the leading dimension ld. The exponents must not
	// be positive beyond rounding; denormal results may be 0.
	colExpSum func(dst, src, shift, sum *T, ld, m, n int, scale T)
	// dots writes s[i*row+j/4*step+j%4] = q_i . k_j for m queries q_i = q[i*ldq:] and n
	// keys k_j = k[j*ldk:] of d elements; n is a multiple of 4. What lies `ahead` elements behind keys is fetched, to L2 if
	// it is far.
	dots func(m, n, d int, q *T, ldq int, k *T, ldk int, s *T, row, step, ahead int, far bool)
	// copyColumns writes dst[i*n+j] = src[i*lds+j] for i < m and j < n, where n elements
	// are two vectors at most.
	copyColumns func(dst, src *T, lds, m, n int)
	// maxTaps writes dst[i*ldd+j] = max over t of src[i*lds+offsets[t]+j] for i < m and j < n. It may read whole
	// vectors of src.
	maxTaps func(dst, src *T, ldd, lds, m, n int, offsets *int, taps int)
	// transpose is for m and n that are multiples of squareOf the instruction set.
	transpose transposition[T]
	// transposeHalves is that of numbers of 16 bits, whatever they are, in the table of fp32.
	transposeHalves transposition[uint16]
}

// transposition writes dst[j*ldd+i] = src[i*lds+j] for i < m and j < n, both multiples of the side of a square, while a
// block of as many elements at next is fetched.
type transposition[E inMemory] func(dst, src, next *E, ldd, lds, m, n int, nt nontemporal)

// squareOf is the side of the squares that transpose takes.
func squareOf[E inMemory](isa ISA) int {
	switch isa {
	case AVX512:
		return 64 / int(unsafe.Sizeof(E(0)))
	case AVX2:
		return 32 / int(unsafe.Sizeof(E(0)))
	}
	return 1
}

// storedKernelsFor is that part of the table of a workspace.
func storedKernelsFor[S inMemory, T float](ws *workspace) *storedKernels[S, T] {
	var k any
	if unsafe.Sizeof(S(0)) < unsafe.Sizeof(T(0)) {
		half := halfKernelsFor(ws.dtype, ws.isa)
		k = &half.storedKernels
	} else {
		wide := vecKernelsFor[T](ws.isa)
		k = &wide.storedKernels
	}
	return k.(*storedKernels[S, T])
}

// vecKernelsFor is the table of an instruction set that ISAs lists.
func vecKernelsFor[T float](isa ISA) vecKernels[T] {
	if k, ok := vecAssembly[T](isa); ok {
		return k
	}
	return vecPortable[T]()
}

// vecCall is the number of elements of one call: at a few cycles each far below
// 1 ms.
const vecCall = 1 << 15

// rowsCall is the same for kernels that work on several rows at once: a call takes many even of long rows.
const rowsCall = 1 << 17

// slice applies the kernel to src; y, where it is used, is as long as src.
func (f mapOf[X, Y, T]) slice(dst, src []X, y []Y, a, b T) {
	dst = dst[:len(src)]
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		var with *Y
		if y != nil {
			with = &y[at : at+n][0]
		}
		f(&dst[at], &src[at], with, n, n, n, 1, n, a, b, cached)
	}
}

// matrix applies the kernel to an m x n matrix and y, which may be empty.
func (f mapOf[X, Y, T]) matrix(dst []X, ldd int, src []X, lds int, y []Y, ldy, m, n int, a, b T) {
	if m <= 0 || n <= 0 {
		return
	}
	if n > vecCall {
		for i := range m {
			var with []Y
			if y != nil {
				with = y[i*ldy:][:n]
			}
			f.slice(dst[i*ldd:], src[i*lds:][:n], with, a, b)
		}
		return
	}
	_, _ = dst[(m-1)*ldd+n-1], src[(m-1)*lds+n-1]
	var with *Y
	if y != nil {
		_ = y[(m-1)*ldy+n-1]
		with = &y[0]
	}
	rows := m
	if m*n > vecCall {
		rows = vecCall / n
	}
	for i := 0; i < m; i += rows {
		f(&dst[i*ldd], &src[i*lds], with, ldd, lds, ldy, min(rows, m-i), n, a, b, cached)
		if y != nil && i+rows < m {
			with = &y[(i+rows)*ldy]
		}
	}
}

// tile applies the kernel to an m x n tile in place, with the same row of y for all
// of its rows: the epilogue of a matrix multiplication.
func (f mapOf[X, Y, T]) tile(c []X, ldc, m, n int, row []Y, a, b T) {
	f.matrix(c, ldc, c, ldc, row, 0, m, n, a, b)
}
