package cpu

// newTapsKernel picks the kernel of one family.
func newTapsKernel[T float](isa ISA) tapsKernel[T] {
	var k any
	switch any(T(0)).(type) {
	case float32:
		switch isa {
		case AVX512:
			k = tapsKernel[float32](vecTapsF32AVX512)
		case AVX2:
			k = tapsKernel[float32](vecTapsF32AVX2)
		}
	case float64:
		switch isa {
		case AVX512:
			k = tapsKernel[float64](vecTapsF64AVX512)
		case AVX2:
			k = tapsKernel[float64](vecTapsF64AVX2)
		}
	}
	if k == nil {
		return tapsPortable[T]
	}
	return k.(tapsKernel[T])
}

// newPlanesKernel is nil where there is none.
func newPlanesKernel[T float](isa ISA, stride int) planesKernel[T] {
	if stride > 2 {
		return nil
	}
	var strides any
	switch any(T(0)).(type) {
	case float32:
		switch isa {
		case AVX512:
			strides = [2]planesKernel[float32]{vecDepthwise1F32AVX512, vecDepthwise2F32AVX512}
		case AVX2:
			strides = [2]planesKernel[float32]{vecDepthwise1F32AVX2, vecDepthwise2F32AVX2}
		}
	case float64:
		switch isa {
		case AVX512:
			strides = [2]planesKernel[float64]{vecDepthwise1F64AVX512, vecDepthwise2F64AVX512}
		case AVX2:
			strides = [2]planesKernel[float64]{vecDepthwise1F64AVX2, vecDepthwise2F64AVX2}
		}
	}
	if strides == nil {
		return nil
	}
	return strides.([2]planesKernel[T])[stride-1]
}

// newWholePlanes picks the kernel for whole vectors, and says of how many elements; nil where there is none.
// With AVX-512, rows that fill at most half of a vector are faster with whole vectors of AVX2: on Zen 4 rows
// of 7 take two thirds of the time that masked vectors of AVX-512 take.
func newWholePlanes[T float](isa ISA, stride, q int) (planesKernel[T], int) {
	k, is := any(planesKernel[float32](vecDepthwise2WholeF32AVX2)).(planesKernel[T])
	lanes := 8
	if !is {
		k, lanes = any(planesKernel[float64](vecDepthwise2WholeF64AVX2)).(planesKernel[T]), 4
	}
	if stride != 2 || isa != AVX2 && (isa != AVX512 || q > lanes) {
		return nil, 0
	}
	return k, lanes
}

// The functions below do what planesKernel says, at a stride of 1 or 2.

//go:noescape
func vecDepthwise1F32AVX512(dst, src *float32, channels, m, w, q, ddst, dsrc int, weights, bias *float32, floor float32, above, below bool)

//go:noescape
func vecDepthwise2F32AVX512(dst, src *float32, channels, m, w, q, ddst, dsrc int, weights, bias *float32, floor float32, above, below bool)

//go:noescape
func vecDepthwise1F64AVX512(dst, src *float64, channels, m, w, q, ddst, dsrc int, weights, bias *float64, floor float64, above, below bool)

//go:noescape
func vecDepthwise2F64AVX512(dst, src *float64, channels, m, w, q, ddst, dsrc int, weights, bias *float64, floor float64, above, below bool)

//go:noescape
func vecDepthwise1F32AVX2(dst, src *float32, channels, m, w, q, ddst, dsrc int, weights, bias *float32, floor float32, above, below bool)

//go:noescape
func vecDepthwise2F32AVX2(dst, src *float32, channels, m, w, q, ddst, dsrc int, weights, bias *float32, floor float32, above, below bool)

//go:noescape
func vecDepthwise2WholeF32AVX2(dst, src *float32, channels, m, w, q, ddst, dsrc int, weights, bias *float32, floor float32, above, below bool)

//go:noescape
func vecDepthwise1F64AVX2(dst, src *float64, channels, m, w, q, ddst, dsrc int, weights, bias *float64, floor float64, above, below bool)

//go:noescape
func vecDepthwise2F64AVX2(dst, src *float64, channels, m, w, q, ddst, dsrc int, weights, bias *float64, floor float64, above, below bool)

//go:noescape
func vecDepthwise2WholeF64AVX2(dst, src *float64, channels, m, w, q, ddst, dsrc int, weights, bias *float64, floor float64, above, below bool)

// The functions below do what tapsPortable does, and read whole vectors of src.

//go:noescape
func vecTapsF32AVX512(dst, src *float32, ldd, lds, m, n int, offsets *int, weights *float32, taps int, bias, floor float32)

//go:noescape
func vecTapsF64AVX512(dst, src *float64, ldd, lds, m, n int, offsets *int, weights *float64, taps int, bias, floor float64)

//go:noescape
func vecTapsF32AVX2(dst, src *float32, ldd, lds, m, n int, offsets *int, weights *float32, taps int, bias, floor float32)

//go:noescape
func vecTapsF64AVX2(dst, src *float64, ldd, lds, m, n int, offsets *int, weights *float64, taps int, bias, floor float64)
