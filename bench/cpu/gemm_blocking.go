package cpu

import (
	"unsafe"

	"hwcal/bench"
)

// cacheSizes are the data caches in bytes: L1 and L2 of one core, L3 as far as
// the workers share it.
type cacheSizes struct{ L1, L2, L3 int }

// typicalCaches stand in where a size is unknown.
var typicalCaches = cacheSizes{32 << 10, 256 << 10, 4 << 20}

// blocking is the cut of a GEMM into blocks, in elements.
type blocking struct{ mc, kc, nc int }

// newBlocking follows Low, Igual, Smith and Quintana-Orti, "Analytical modeling is
// enough for high-performance BLIS" (2016), with A and B exchanged, as the tile
// is wider than high: the block of B that all rows of tiles share (kc x nc) takes 3/8 of
// L2, and the block of A that the workers share (mc x kc) a quarter of L3. The block of B
// that is packed meanwhile takes as much, and the last quarter is for what passes by: A, C, and
// what is packed.
//
// In one respect measurements say otherwise: kc is not what L1 holds of the panels
// (the model's choice would be 350 fp32 on Skylake-SP), but a sixteenth of L2 for a
// panel of B. The micro-kernel fetches both panels ahead of their use, so it runs as
// fast from L2, and with a larger kc fewer passes go over C.
func newBlocking[T float](k gemmKernels[T], c cacheSizes) blocking {
	l2, l3 := orElse(c.L2, typicalCaches.L2), orElse(c.L3, typicalCaches.L3)
	size := int(unsafe.Sizeof(T(0)))
	kc := clamp(l2/16/(k.nr*size)/32*32, 64, 768)
	nc := clamp(l2*3/8/(kc*size)/k.nr*k.nr, k.nr, 4096)
	mc := clamp(l3/4/(kc*size)/k.mr*k.mr, 4*k.mr, 4096)
	return blocking{mc, kc, nc}
}

// halfL2 and halfL3 are half of the caches that the blocks were made for, in bytes of elements of that size.
func (b blocking) halfL2(size int) int { return b.kc * b.nc * size * 4 / 3 }
func (b blocking) halfL3(size int) int { return b.kc * b.mc * size * 2 }

// newConvBlocking packs one panel of B (kc x nr) at a time, a twelfth of L2 at most, so that
// it is used while it is in the cache. If A (m x k) fits beside it, it is one block. Else, with
// masked tiles, of which the first packs the panel on the way, a block of A (mc x kc) takes half
// of L2, and is multiplied by as many panels as make the block of C (mc x nc) a quarter. Without
// masks most panels are packed beforehand: packing them again for each block of A takes longer
// than reading all of A from L3 for every four panels, packed together: 2 to 20% on Zen 3.
func newConvBlocking[T float](g gemmKernels[T], c cacheSizes, m, k int) blocking {
	l2, size := orElse(c.L2, typicalCaches.L2), int(unsafe.Sizeof(T(0)))
	kc := clamp(l2/12/(g.nr*size)/32*32, 64, 768)
	switch {
	case m*k*size <= l2*5/8:
		return blocking{m, kc, g.nr}
	case !g.masked:
		return blocking{m, kc, 4 * g.nr}
	}
	mc := min(m, max(l2/2/(kc*size)/g.mr*g.mr, 4*g.mr))
	return blocking{mc, kc, max(l2/4/(mc*size)/g.nr*g.nr, g.nr)}
}

func orElse(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

// even is the size of the parts of n, at most limit and as equal as multiples of
// grain allow.
func even(n, limit, grain int) int {
	if n <= limit {
		return max(n, 1)
	}
	parts := ceilDiv(n, limit)
	return ceilDiv(ceilDiv(n, parts), grain) * grain
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// grid is how the workers share C: rows x cols parts.
type grid struct{ rows, cols int }

// newGrid chooses the division with the least time for the slowest worker. To pack
// an element of A or of B takes as long as 1.5*nr products with it, and each worker packs its own
// rows and columns.
func newGrid(threads, m, n, mr, nr int) grid {
	best, least := grid{1, threads}, 0
	for rows := 1; rows <= threads; rows++ {
		if threads%rows != 0 {
			continue
		}
		cols := threads / rows
		m1 := min(ceilDiv(ceilDiv(m, mr), rows)*mr, m)
		n1 := min(ceilDiv(ceilDiv(n, nr), cols), ceilDiv(n, nr)) * nr
		t := 2*m1*n1 + 3*nr*(m1+n1)
		if least == 0 || t < least {
			best, least = grid{rows, cols}, t
		}
	}
	return best
}

// part is the half-open range of n, in whole grains, that belongs to one of
// several.
func part(n, grain, i, of int) (lo, hi int) {
	from, to := bench.Part(int64(n), int64(grain), int64(i), int64(of))
	return int(from), int(to)
}
