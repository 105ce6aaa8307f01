package cpu

import "unsafe"

// narrowHead is the view of one head of a tensor [heads, rows, cols].
func narrowHead(x []uint16, i, rows, cols int) byteRows {
	part := halfHead(x, i, rows, cols)
	return byteRows{asBytes(part), 2 * cols}
}

// packKeys packs n rows of K from row key on as columns of the right-hand side.
func (x *narrowAttention) packKeys(s *narrowAttentionScratch, k byteRows, key, n int) {
	nr, width, steps, depth := x.qkPlan.nr, x.qkPlan.width, x.qkPlan.steps, x.depth()
	for j := 0; j < n; j += nr {
		x.asRows.packBlockA(s.spare, k, key+j, min(nr, n-j), 0, steps)
		for i := range steps * nr / width {
			part := width * stepBytes
			from, to := s.spare[i*part:][:part], s.k[j*steps*stepBytes+i*part:][:part]
			// A pair moves as one number of 32 bits, and four elements as one of 64.
			switch x.qkPlan.group {
			case 2:
				x.pack.transposed(as[float32](to), width, as[float32](from), depth/2, width, depth/2)
				continue
			case 4:
				transposePortable(&as[float64](to)[0], width, &as[float64](from)[0], depth/4, width, depth/4)
				continue
			}
			halves, all := as[uint16](from), width*depth
			x.half.widen(&s.wide[0][0], &halves[0], all, all, 1, all)
			x.pack.transposed(s.wide[1], width, s.wide[0], depth, width, depth)
			halves = as[uint16](to)
			x.half.round(&halves[0], &s.wide[1][0], all, all, 1, all)
		}
	}
}

// packValues packs n rows of V from row key on, in blocks of steps as long as pv's.
func (x *narrowAttention) packValues(s *narrowAttentionScratch, v byteRows, key, n int) {
	steps := ceilDiv(n, x.depth())
	for at := 0; at < steps; at += x.pvPlan.kc {
		x.pvPlan.packBlockB(s.v[x.valuesAt(at):], v, s.spare, 0, x.d, key/x.depth()+at, min(x.pvPlan.kc, steps-at))
	}
}

// valuesAt is where the steps of a block of V begin.
func (x *narrowAttention) valuesAt(step int) int {
	return step * x.columns() * x.qkPlan.nr * stepBytes
}

// multiply writes the product of a panel of A and n panels of B, of as many steps, to
// tiles of out, or adds it to those of acc, which may be the same.
func (x *narrowAttention) multiply(spare []byte, n, steps int, a, b []byte, acc []float32, add bool, out []float32, ldo, nextTile int) {
	mr, nr := x.qkPlan.mr, x.qkPlan.nr
	_, _ = a[x.qkPlan.panelA(steps)-1], b[n*x.qkPlan.panelB(steps)-1]
	_, _ = acc[n*mr*nr-1], out[(n-1)*nextTile+(mr-1)*ldo+nr-1]
	stay := -steps * stepBytes // nothing to fetch
	x.qkPlan.block(mr, 1, n, steps, &a[0], &b[0], (*byte)(unsafe.Pointer(&acc[0])), add, 0,
		(*byte)(unsafe.Pointer(&out[0])), ldo*accBytes, nextTile*accBytes, 0,
		&a[0], 0, stay, &b[0], 0, stay, &spare[0], 0)
}

// few is the number of columns of tiles that are finished together.
func (x *narrowAttention) few() int { return x.qkPlan.hotTiles() * x.qkPlan.nr }

// scores writes the columns [j, end) of the product of a packed panel of Q and of the
// block of K, a few tiles.
func (x *narrowAttention) scores(s *narrowAttentionScratch, q []byte, j, end int, out []float32, ldo, nextTile int) {
	nr, steps := x.qkPlan.nr, x.qkPlan.steps
	x.multiply(s.spare, ceilDiv(end-j, nr), steps, q, s.k[j*steps*stepBytes:], s.tiles, false, out, ldo, nextTile)
}

// scoreRows writes all n columns, in rows.
func (x *narrowAttention) scoreRows(s *narrowAttentionScratch, q []byte, n int) {
	few := x.few()
	for j := 0; j < n; j += few {
		x.scores(s, q, j, min(n, j+few), s.s[j:], x.ld(), x.qkPlan.nr)
	}
}

// weigh adds the product of a panel of P and n rows of the block of V to the sums of O. pack
// packs steps of P.
func (x *narrowAttention) weigh(s *narrowAttentionScratch, acc []float32, key, n int, pack func(at, steps int)) {
	mr, nr, kc := x.qkPlan.mr, x.qkPlan.nr, x.pvPlan.kc
	all, packed := ceilDiv(n, x.depth()), ceilDiv(min(x.keys, x.sk-key), x.depth())
	for at := 0; at < all; at += kc {
		steps, stored := min(kc, all-at), min(kc, packed-at)
		pack(at, steps)
		each := x.columns()
		if steps < stored {
			each = 1 // what is left out lies between the panels
		}
		for j := 0; j < x.columns(); j += each {
			tiles := acc[j*mr*nr:]
			x.multiply(s.spare, each, steps, s.p, s.v[x.valuesAt(at)+j*stored*nr*stepBytes:], tiles, key+at > 0, tiles, nr, mr*nr)
		}
	}
}

// sums are those of O of a panel.
func (x *narrowAttention) sums(s *narrowAttentionScratch, h, panel int) []float32 {
	return s.acc[x.place(h, panel)*x.accLen():][:x.accLen()]
}

// place is where what belongs to a panel is kept, while others go through the keys too.
func (x *narrowAttention) place(h, panel int) int { return (h*x.rows.n + panel) % x.most }

// store rounds the sums of a panel to O.
func (x *narrowAttention) store(o []uint16, acc []float32, h, lo, hi int) {
	mr, nr := x.qkPlan.mr, x.qkPlan.nr
	for j := 0; j < x.d; j += nr {
		x.round(o[(h*x.sq+lo)*x.d+j:], x.d, acc[j*mr:], nr, hi-lo, min(nr, x.d-j))
	}
}

// round rounds an m x n matrix.
func (x *narrowAttention) round(dst []uint16, ldd int, src []float32, lds, m, n int) {
	_, _ = dst[(m-1)*ldd+n-1], src[(m-1)*lds+n-1]
	x.half.round(&dst[0], &src[0], ldd, lds, m, n)
}
