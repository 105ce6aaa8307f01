//go:build amd64 || arm64

package cpu

import "unsafe"

// streamAssembly are the assembly functions of one family; some may be nil.
type streamAssembly struct {
	ahead               string
	read                func(reps, n int, a *float64) uint64
	write, writeNT      func(reps, n int, a *float64, s float64)
	copy, copyNT, scale func(reps, n int, a, b *float64, s float64)
	add, triad, triadNT func(reps, n int, a, b, c *float64, s float64)
	read4               func(n, stride int, a *float64) uint64
	copyNT4             func(n, stride int, a, b *float64)
}

func assembled(families ...streamAssembly) []streamKernel {
	var all []streamKernel
	for _, f := range families {
		add := func(name string, tensors int, there bool, run func(reps int, a, b, c []float64, s float64) uint64) {
			if there {
				all = append(all, streamKernel{name, tensors, 8 * tensors, f.ahead, run})
			}
		}
		add("read", 1, f.read != nil, func(reps int, a, _, _ []float64, _ float64) uint64 {
			return chunked(reps, len(a), func(r, lo, hi int) uint64 { return f.read(r, hi-lo, &a[lo]) })
		})
		add("write", 1, f.write != nil, one(f.write))
		add("write_nt", 1, f.writeNT != nil, one(f.writeNT))
		add("copy", 2, f.copy != nil, two(f.copy))
		add("copy_nt", 2, f.copyNT != nil, two(f.copyNT))
		add("scale", 2, f.scale != nil, two(f.scale))
		add("add", 3, f.add != nil, three(f.add))
		add("triad", 3, f.triad != nil, three(f.triad))
		add("triad_nt", 3, f.triadNT != nil, three(f.triadNT))
		add("read4", 1, f.read4 != nil, f.runRead4)
		add("copy_nt4", 2, f.copyNT4 != nil, f.runCopyNT4)
	}
	return all
}

func one(f func(reps, n int, a *float64, s float64)) func(int, []float64, []float64, []float64, float64) uint64 {
	return func(reps int, a, _, _ []float64, s float64) uint64 {
		return chunked(reps, len(a), func(r, lo, hi int) uint64 {
			f(r, hi-lo, &a[lo], s)
			return 0
		})
	}
}

func two(f func(reps, n int, a, b *float64, s float64)) func(int, []float64, []float64, []float64, float64) uint64 {
	return func(reps int, a, b, _ []float64, s float64) uint64 {
		b = b[:len(a)]
		return chunked(reps, len(a), func(r, lo, hi int) uint64 {
			f(r, hi-lo, &a[lo], &b[lo], s)
			return 0
		})
	}
}

func three(f func(reps, n int, a, b, c *float64, s float64)) func(int, []float64, []float64, []float64, float64) uint64 {
	return func(reps int, a, b, c []float64, s float64) uint64 {
		b, c = b[:len(a)], c[:len(a)]
		return chunked(reps, len(a), func(r, lo, hi int) uint64 {
			f(r, hi-lo, &a[lo], &b[lo], &c[lo], s)
			return 0
		})
	}
}

// quarters cuts n elements behind address p into a head that ends at a cache
// line, four streams of the same length, a multiple of 16, and a tail.
func quarters(p *float64, n int) (head, stream int) {
	head = min(n, int(-uintptr(unsafe.Pointer(p))%64/8))
	return head, (n - head) / 4 &^ 15
}

func (f streamAssembly) runRead4(reps int, a, _, _ []float64, _ float64) (sum uint64) {
	if len(a) == 0 {
		return 0
	}
	head, stream := quarters(&a[0], len(a))
	rest := head + 4*stream
	for range reps {
		sum <<= 1
		if head > 0 {
			sum ^= f.read(1, head, &a[0])
		}
		for lo := 0; lo < stream; lo += streamChunk / 4 {
			sum ^= f.read4(min(streamChunk/4, stream-lo), stream*8, &a[head+lo])
		}
		if rest < len(a) {
			sum ^= f.read(1, len(a)-rest, &a[rest])
		}
	}
	return sum
}

func (f streamAssembly) runCopyNT4(reps int, a, b, _ []float64, s float64) uint64 {
	if len(a) == 0 {
		return 0
	}
	b = b[:len(a)]
	head, stream := quarters(&a[0], len(a))
	rest := head + 4*stream
	for range reps {
		if head > 0 {
			f.copy(1, head, &a[0], &b[0], s)
		}
		for lo := 0; lo < stream; lo += streamChunk / 4 {
			f.copyNT4(min(streamChunk/4, stream-lo), stream*8, &a[head+lo], &b[head+lo])
		}
		if rest < len(a) {
			f.copy(1, len(a)-rest, &a[rest], &b[rest], s)
		}
	}
	return 0
}
