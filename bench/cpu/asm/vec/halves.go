package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bf16 comes in pairs of vectors, of which one load brings both and one store takes both. It is the upper half of
// fp32: of 32 elements those at odd places are there as soon as what lies below them is cleared, and those at even
// places when they are shifted. In that order, which is none in memory, they may be computed on, and added up, if what
// they meet is in the same order.

// pair are two vectors of elements, of which order says where in memory they lie.
type pair struct {
	v     []reg.Register // two, or of what is left at the end of a row one
	order order
}

type order int

const (
	natural order = iota
	byParity
)

// upperHalves selects the halves at odd places.
const upperHalves konst = 0xffff0000

// together is how many of some vectors are loaded, or stored, at once.
func (g *gen) together(count int) int {
	if g.name == bf16s.name {
		return min(2, count)
	}
	return 1
}

// getPair loads as many, in any order.
func (g *gen) getPair(m operand.Mem, count int, mask *mask) pair {
	if count < 2 {
		v := g.vector()
		g.get(m, mask, v)
		return pair{v: []reg.Register{v}}
	}
	even, odd := g.vector(), g.vector()
	g.emit("VMOVDQU16", m, odd)
	g.emit("VPSLLD", immediate(16), odd, even)
	g.emit("VPANDD", upperHalves, odd, odd)
	return pair{[]reg.Register{even, odd}, g.orderOf(count)}
}

// orderOf is the order in which getPair loads so many.
func (g *gen) orderOf(count int) order {
	if count < 2 {
		return natural
	}
	return byParity
}

// storePair rounds a pair and stores it.
func (g *gen) storePair(p pair, mask *mask, nt bool, m operand.Mem) {
	if len(p.v) < 2 {
		g.store(p.v[0], mask, nt, m)
		return
	}
	both := g.vector()
	g.emit("VCVTNE2PS2BF16", p.v[0], p.v[1], both)
	if p.order == byParity {
		g.emit("VPERMW", both, g.vectorOf(g.interleaved()), both)
	}
	if nt {
		g.emit("VMOVNTDQ", both, m)
	} else {
		g.emit("VMOVDQU16", both, m)
	}
}

// interleaved is the order that puts the elements of one vector between those of another, as bits of 32 bits each.
func (g *gen) interleaved() []uint64 {
	from := func(i int) uint64 { return uint64(i/2 + i%2*g.lanes()) }
	words := make([]uint64, g.lanes())
	for i := range words {
		words[i] = from(2*i) | from(2*i+1)<<16
	}
	return words
}

// halfVectors writes some vectors of a map of halves: for short operations pair by pair, so that stores follow their
// loads, and else with all operations interleaved.
func (g *gen) halfVectors(k mapped, v args, dst, src, y reg.Register, fetch func(u int)) func(name string, count int, mask *mask, nt, far bool) {
	if g.name == bf16s.name && k.short() {
		g.hold(g.interleaved())
	}
	return func(_ string, count int, mask *mask, nt, far bool) {
		most := g.together(count)
		at := func(base reg.Register, i int) operand.Mem { return operand.Mem{Base: base, Disp: i * most * g.step()} }
		load := func(i int) (x, with pair) {
			x = g.getPair(at(src, i), most, mask)
			if k.y {
				with = g.getPair(at(y, i), most, mask)
			}
			if far && k.short() {
				fetch(i * most)
			}
			return x, with
		}
		apply := func(x, with pair, j int) {
			w := v
			w.y = func() reg.Register { return with.v[j] }
			x.v[j] = k.f(x.v[j], w)
		}
		if !k.short() {
			if far {
				inTurn(count, fetch)
			} else {
				g.fetchAhead(src, nil, count)
			}
			xs, ys := make([]pair, count/most), make([]pair, count/most)
			for i := range xs {
				xs[i], ys[i] = load(i)
			}
			g.interleave(count, func(u int) { apply(xs[u/most], ys[u/most], u%most) })
			for i, x := range xs {
				g.storePair(x, mask, nt, at(dst, i))
			}
			return
		}
		each := g.interleave
		if nt { // see mapKernel
			each = inTurn
		}
		if k.bits != nil {
			most = min(2, count)
			each(count/most, func(i int) {
				if far {
					fetch(i * most)
				}
				g.mapBits(k.bits, at(dst, i), at(src, i), most, mask, nt)
			})
			return
		}
		each(count/most, func(i int) {
			x, with := load(i)
			for j := range x.v {
				apply(x, with, j)
			}
			g.storePair(x, mask, nt, at(dst, i))
		})
	}
}

// mapBits applies f to the bits of halves: of two vectors in one, or of one in half a vector.
func (g *gen) mapBits(f func(x reg.Register, part func(reg.Register) reg.Register) reg.Register, dst, src operand.Mem, count int, mask *mask, nt bool) {
	part := func(r reg.Register) reg.Register { return r }
	if count == 1 {
		part = func(r reg.Register) reg.Register { return r.(reg.Vec).AsY() }
	}
	x := part(g.vector())
	if mask == nil {
		g.emit("VMOVDQU16", src, x)
	} else {
		g.emit("VMOVDQU16_Z", src, mask.reg, x)
	}
	x = f(x, part)
	switch {
	case nt:
		g.emit("VMOVNTDQ", x, dst)
	case mask == nil:
		g.emit("VMOVDQU16", x, dst)
	default:
		g.emit("VMOVDQU16", x, mask.reg, dst)
	}
}

// infinity is the negative one, in both halves of 32 bits. Beyond it is NaN.
func (g *gen) infinity() konst {
	if g.name == bf16s.name {
		return 0xff80ff80
	}
	return 0xfc00fc00
}

// reluOfBits is max(x, 0), of numbers as of integers, which have their sign in the same place, and NaN for NaN.
func (g *gen) reluOfBits(x reg.Register, part func(reg.Register) reg.Register) reg.Register {
	const greater = 6
	r, isNaN := part(g.vector()), g.K()
	g.emit("VPMAXSW", part(g.pinned[uint64(g.num(0))]), x, r)
	g.emit("VPCMPUW", immediate(greater), part(g.pinned[uint64(g.infinity())]), x, isNaN)
	g.emit("VMOVDQU16", x, isNaN, r)
	return r
}
