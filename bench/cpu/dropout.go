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

// dropper drops elements of a tensor by their index.
type dropper[T float] struct {
	scale       T
	least, seed uint32
}

func newDropper[T float](op bench.Op) dropper[T] {
	p := op.Params.(bench.DropoutParams)
	return dropper[T]{T(p.Scale()), p.Least(), p.Seed}
}

// at is the counter of the generator before an element.
func (d dropper[T]) at(element int) uint32 { return d.seed + uint32(element)*weyl }

// addGeluThenDropout does in two steps what there is no kernel for.
func addGeluThenDropout[T float](addGelu mapKernel[T, T], dropout func(dst, src *T, n int, scale T, least, at uint32, nt nontemporal)) func(dst, src, y *T, n int, scale T, least, at uint32, nt nontemporal) {
	return func(dst, src, y *T, n int, scale T, least, at uint32, nt nontemporal) {
		addGelu(dst, src, y, n, n, n, 1, n, 0, 0, cached)
		dropout(dst, dst, n, scale, least, at, nt)
	}
}
