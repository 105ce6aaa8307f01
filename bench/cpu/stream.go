package cpu

import "unsafe"

// streamKernel is one loop of the STREAM benchmark on float64.
type streamKernel struct {
	name    string
	tensors int // that run uses, in the order a, b, c
	bytes   int // an element of a, as STREAM counts: write-allocate is not counted
	// ahead names how it fetches lines ahead, if it does, which helps with memory and costs in a cache.
	ahead string
	// run makes reps passes over len(a) elements, with the tensors at any
	// alignment of 8 bytes; b and c are at least as long as a. The result is
	// ref.Checksum of a, with all bits, for the reading kernels, else 0.
	run func(reps int, a, b, c []float64, s float64) uint64
}

// streamChunk is the number of elements of each tensor that one assembly call
// covers: 1 MiB, so that even a slow memory lets it return within a
// millisecond, and few enough calls that the fence of a non-temporal kernel is
// free.
const streamChunk = 128 << 10

// chunked lets call cover n elements reps times in parts of a bounded length:
// elements [lo, hi), r times. It makes one checksum of theirs.
func chunked(reps, n int, call func(r, lo, hi int) uint64) (sum uint64) {
	if n == 0 {
		return 0
	}
	if n <= streamChunk {
		for most := max(1, streamChunk/n); reps > 0; reps -= most {
			r := min(reps, most)
			sum = sum<<r ^ call(r, 0, n)
		}
		return sum
	}
	for range reps {
		sum <<= 1
		for lo := 0; lo < n; lo += streamChunk {
			sum ^= call(1, lo, min(lo+streamChunk, n))
		}
	}
	return sum
}

// portableStream are the kernels in Go.
var portableStream = []streamKernel{
	{name: "read", tensors: 1, bytes: 8, run: func(reps int, a, _, _ []float64, _ float64) (sum uint64) {
		for range reps {
			sum = sum<<1 ^ xorPortable(a)
		}
		return sum
	}},
	{name: "write", tensors: 1, bytes: 8, run: func(reps int, a, _, _ []float64, s float64) uint64 {
		for range reps {
			for i := range a {
				a[i] = s
			}
		}
		return 0
	}},
	{name: "copy", tensors: 2, bytes: 16, run: func(reps int, a, b, _ []float64, _ float64) uint64 {
		// In parts, below the size at which the runtime's memmove turns
		// to non-temporal stores.
		return chunked(reps, len(a), func(r, lo, hi int) uint64 {
			for range r {
				for lo := lo; lo < hi; lo += streamChunk / 8 {
					copy(a[lo:min(lo+streamChunk/8, hi)], b[lo:hi])
				}
			}
			return 0
		})
	}},
	{name: "scale", tensors: 2, bytes: 16, run: func(reps int, a, b, _ []float64, s float64) uint64 {
		b = b[:len(a)]
		for range reps {
			for i := range a {
				a[i] = s * b[i]
			}
		}
		return 0
	}},
	{name: "add", tensors: 3, bytes: 24, run: func(reps int, a, b, c []float64, _ float64) uint64 {
		b, c = b[:len(a)], c[:len(a)]
		for range reps {
			for i := range a {
				a[i] = b[i] + c[i]
			}
		}
		return 0
	}},
	{name: "triad", tensors: 3, bytes: 24, run: func(reps int, a, b, c []float64, s float64) uint64 {
		b, c = b[:len(a)], c[:len(a)]
		for range reps {
			for i := range a {
				a[i] = b[i] + s*c[i]
			}
		}
		return 0
	}},
}

// xorPortable is the exclusive or of the bits of a, in four chains.
func xorPortable(a []float64) uint64 {
	bits := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(a))), len(a))
	var s0, s1, s2, s3 uint64
	for len(bits) >= 8 {
		s0 ^= bits[0]
		s1 ^= bits[1]
		s2 ^= bits[2]
		s3 ^= bits[3]
		s0 ^= bits[4]
		s1 ^= bits[5]
		s2 ^= bits[6]
		s3 ^= bits[7]
		bits = bits[8:]
	}
	for _, x := range bits {
		s0 ^= x
	}
	return s0 ^ s1 ^ s2 ^ s3
}
