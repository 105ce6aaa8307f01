package cpu

// newConvKernels picks the kernels of one family.
func newConvKernels[T float](isa ISA) convKernels[T] {
	var all any
	switch any(T(0)).(type) {
	case float32:
		switch isa {
		case AVX512:
			all = convKernels[float32]{
				runs:    sgemmLoadRunsAVX512,
				gather:  sgemmGatherAVX512,
				evenOdd: sgemmEvenOddAVX512,
				packRun: sgemmPackRunAVX512,
			}
		case AVX2:
			all = convKernels[float32]{
				runs:     sgemmLoadRunsAVX2,
				gather:   sgemmGatherAVX2,
				evenOdd:  sgemmEvenOddAVX2,
				packRun:  sgemmPackRunAVX2,
				packTaps: sgemmPackTapsAVX2,
			}
		}
	case float64:
		switch isa {
		case AVX512:
			all = convKernels[float64]{
				runs:    dgemmLoadRunsAVX512,
				gather:  dgemmGatherAVX512,
				evenOdd: dgemmEvenOddAVX512,
				packRun: dgemmPackRunAVX512,
			}
		case AVX2:
			all = convKernels[float64]{
				runs:     dgemmLoadRunsAVX2,
				gather:   dgemmGatherAVX2,
				evenOdd:  dgemmEvenOddAVX2,
				packRun:  dgemmPackRunAVX2,
				packTaps: dgemmPackTapsAVX2,
			}
		}
	}
	if all == nil {
		return portableConvKernels[T](newGEMMKernels[T](isa).vl)
	}
	return all.(convKernels[T])
}

// The functions below write dst[p*ldd+i] for p < n and each lane i of a vector:
// src[p*channel+l.offset[r]+i] of the run r whose mask has bit i, or 0. They touch
// no memory that belongs to a clear bit.

//go:noescape
func sgemmLoadRunsAVX512(dst *float32, ldd int, src *float32, channel, n int, l *lanes)

//go:noescape
func dgemmLoadRunsAVX512(dst *float64, ldd int, src *float64, channel, n int, l *lanes)

//go:noescape
func sgemmLoadRunsAVX2(dst *float32, ldd int, src *float32, channel, n int, l *lanes)

//go:noescape
func dgemmLoadRunsAVX2(dst *float64, ldd int, src *float64, channel, n int, l *lanes)

// The functions below do what gatherPortable does with vl lanes.

//go:noescape
func sgemmGatherAVX512(dst *float32, ldd int, src *float32, channel, n int, index *[16]int32, mask int)

//go:noescape
func dgemmGatherAVX512(dst *float64, ldd int, src *float64, channel, n int, index *[16]int32, mask int)

//go:noescape
func sgemmGatherAVX2(dst *float32, ldd int, src *float32, channel, n int, index *[16]int32, mask int)

//go:noescape
func dgemmGatherAVX2(dst *float64, ldd int, src *float64, channel, n int, index *[16]int32, mask int)

// The functions below do what convKernels says of evenOdd.

//go:noescape
func sgemmEvenOddAVX512(dst *float32, ldd, beside int, src *float32, lds, rows, n, ahead int)

//go:noescape
func dgemmEvenOddAVX512(dst *float64, ldd, beside int, src *float64, lds, rows, n, ahead int)

//go:noescape
func sgemmEvenOddAVX2(dst *float32, ldd, beside int, src *float32, lds, rows, n, ahead int)

//go:noescape
func dgemmEvenOddAVX2(dst *float64, ldd, beside int, src *float64, lds, rows, n, ahead int)

// The functions below do what convKernels says of packRun.

//go:noescape
func sgemmPackRunAVX512(dst *float32, row int, src *float32, channel, n, at, ahead, mask int)

//go:noescape
func dgemmPackRunAVX512(dst *float64, row int, src *float64, channel, n, at, ahead, mask int)

//go:noescape
func sgemmPackRunAVX2(dst *float32, row int, src *float32, channel, n, at, ahead, mask int)

//go:noescape
func dgemmPackRunAVX2(dst *float64, row int, src *float64, channel, n, at, ahead, mask int)

// The functions below do what convKernels says of packTaps.

//go:noescape
func sgemmPackTapsAVX2(dst *float32, row int, src *float32, n, at int, places, masks *int)

//go:noescape
func dgemmPackTapsAVX2(dst *float64, row int, src *float64, n, at int, places, masks *int)
