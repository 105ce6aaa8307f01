package cpu

import "hwcal/bench"

// weyl is what the counter of the generator advances by; see bench/ref.
const weyl = 0x9e3779b9

// mix turns a counter into a random number of 31 bits: the finaliser of MurmurHash3.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return (h ^ h>>16) >> 1
}

// dropper drops elements of a tensor of the given width by their index.
type dropper[S inMemory, T float] struct {
	kernel      func(dst, src *S, n int, scale T, least, at uint32, nt bool)
	scale       T
	least, seed uint32
	width       int
}

func newDropper[S inMemory, T float](k *storedKernels[S, T], p bench.DropoutParams, width int) dropper[S, T] {
	return dropper[S, T]{k.dropout, T(p.Scale()), p.Least(), p.Seed, width}
}

// step runs over rows that follow each other without a gap at once.
func (d dropper[S, T]) step(dst []S, ldd int, src []S, lds, i0, j0, m, n int) {
	if n == d.width && ldd == n && lds == n {
		m, n = 1, m*n
	}
	for i := range m {
		d.slice(dst[i*ldd:][:n], src[i*lds:][:n], (i0+i)*d.width+j0, false)
	}
}

// slice treats the elements from index first of the tensor on.
func (d dropper[S, T]) slice(dst, src []S, first int, nt bool) {
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		d.kernel(&dst[at], &src[at], n, d.scale, d.least, d.seed+uint32(first+at)*weyl, nt)
	}
}
