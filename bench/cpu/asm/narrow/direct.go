package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// direct says whether there is such a kernel: fp16 would have to add its sums up all the time.
func (v vector) direct() bool { return v.skinny() }

// directRows are the heights of its tiles, one after the other as long as there are so many rows.
var directRows = []int{8, 4, 2, 1}

// directBlock is C = A*B of matrices that are in the caches. For each two vectors of columns, and a last one
// if there is a single one, it interleaves the rows of B in room, in groups, and multiplies them by the rows of A as
// they come.
//
// int8: the elements of A become unsigned, A + 128, on their way, and the sums begin with -128 times those
// of the columns of B.
func (v vector) directBlock(c *build.Context) {
	s := v.newDirect(c, "gemmDirect", "func(m, n, groups int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)")
	c.Load(c.Param("b"), directB)
	c.Load(c.Param("n"), directCols)
	for count := vecs; count > 0; count-- {
		columns, done := fmt.Sprintf("columns%d", count), fmt.Sprintf("done%d", count)
		c.Label(columns)
		c.CMPQ(directCols, U32(s.width(count)))
		c.JLT(LabelRef(done))
		s.interleave(count)
		s.rows(count, func() { c.Load(c.Param("room"), directAt) })
		c.ADDQ(U32(s.width(count)*v.size), directB)
		c.ADDQ(U32(count*v.Bytes), directC)
		c.SUBQ(U32(s.width(count)), directCols)
		c.JMP(LabelRef(columns))
		c.Label(done)
	}
	c.VZEROUPPER()
	c.RET()
}

// directPanels does the same with panels of B that are packed, next bytes from each other, and fetches the next one. For
// int8, what the sums begin with lies so many bytes behind each.
func (v vector) directPanels(c *build.Context) {
	s := v.newDirect(c, "gemmPanels", "func(m, panels, groups int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)")
	s.next = directB
	c.Load(c.Param("next"), s.next)
	c.Load(c.Param("panels"), directCols)
	c.Label("panel")
	for j, start := range s.start {
		if v.size == 1 {
			c.Load(c.Param("b"), directAt)
			c.ADDQ(param(c, "sums"), directAt)
			c.VMOVDQU32(Mem{Base: directAt, Disp: j * v.Bytes}, start)
		} else {
			v.zero(c, start)
		}
	}
	s.rows(vecs, func() { c.Load(c.Param("b"), directAt) })
	c.ADDQ(s.next, param(c, "b"))
	c.ADDQ(U32(vecs*v.Bytes), directC)
	c.DECQ(directCols)
	c.JNZ(LabelRef("panel"))
	c.VZEROUPPER()
	c.RET()
}

// newDirect begins such a function.
func (v vector) newDirect(c *build.Context, name, signature string) direct {
	s := direct{vector: v, Context: c}
	tall := directRows[0] * vecs
	s.flip = v.V(tall)
	s.factor = [2]reg.VecPhysical{v.V(tall + 1), v.V(tall + 2)}
	for j := range vecs {
		s.column[j], s.start[j] = v.V(tall+3+j), v.V(tall+3+vecs+j)
	}
	function(c, v.dtype+name+camel(v.unit), signature)
	if v.size == 1 {
		c.MOVL(U32(0x80808080), reg.EAX)
		c.VPBROADCASTD(reg.EAX, s.flip)
	}
	for _, p := range []struct {
		name   string
		ld, by reg.GPPhysical
	}{{"lda", directLDA, directLDA3}, {"ldc", directLDC, directLDC3}} {
		c.Load(c.Param(p.name), p.ld)
		c.LEAQ(Mem{Base: p.ld, Index: p.ld, Scale: 2}, p.by)
	}
	c.Load(c.Param("c"), directC)
	return s
}

// rows multiplies all rows of A by so many vectors of columns, which lie where columns loads directAt.
func (s direct) rows(count int, columns func()) {
	s.Load(s.Param("m"), directLeft)
	s.Load(s.Param("a"), directA)
	s.MOVQ(directC, directTo)
	for _, rows := range directRows {
		s.tiles(rows, count, columns)
	}
}

var (
	directCols, directB, directC = reg.RBX, reg.RSI, reg.RDI // columns left, of B and C
	directLDA, directLDA3        = reg.R8, reg.R9
	directLDC, directLDC3        = reg.R10, reg.R11
	directLeft                   = reg.R12 // rows
	directA, directTo            = reg.R13, reg.R14
	directAt, directGroups       = reg.R15, reg.RAX // in room; groups left
	// While B is interleaved, the distance of its rows, else where the fifth row of a tile lies, and the
	// row behind the tile.
	directLDB, directLDB3   = reg.RCX, reg.RDX
	directFifth, directNext = reg.RCX, reg.RDX
)

// direct is what the kernel keeps in vectors.
type direct struct {
	vector
	*build.Context
	flip          reg.VecPhysical
	factor        [2]reg.VecPhysical
	column, start [vecs]reg.VecPhysical
	next          reg.GPPhysical // how far behind a panel the next one is fetched, if there is one
}

// width is the number of columns of so many vectors of sums.
func (s direct) width(count int) int { return count * s.Bytes / 4 }

// interleave writes groups of so many vectors of columns to room. An element becomes as long as a sum, and
// those of the other rows of its group are shifted beside it.
func (s direct) interleave(count int) {
	label := fmt.Sprintf("interleave%d", count)
	for j := range count {
		s.zero(s.Context, s.start[j])
	}
	s.Load(s.Param("ldb"), directLDB)
	s.LEAQ(Mem{Base: directLDB, Index: directLDB, Scale: 2}, directLDB3)
	s.Load(s.Param("room"), directAt)
	s.Load(s.Param("groups"), directGroups)
	s.MOVQ(directB, directA)
	s.Label(label)
	for j := range count {
		for i := range s.group {
			row, r := simd.Nth(directA, directLDB, directLDB3, i, j*s.width(1)*s.size), s.V(i)
			if s.size == 1 {
				s.VPMOVZXBD(row, r)
			} else {
				s.VPMOVZXWD(row, r)
			}
			if i > 0 {
				s.VPSLLD(U8(uint8(8*s.size*i)), r, r)
				s.VPORD(s.V(0), r, s.V(0))
			}
		}
		s.VMOVDQU32(s.V(0), Mem{Base: directAt, Disp: j * s.Bytes})
		if s.size == 1 {
			s.VPDPBUSD(s.V(0), s.flip, s.start[j])
		}
	}
	s.LEAQ(Mem{Base: directA, Index: directLDB, Scale: uint8(s.group)}, directA)
	s.ADDQ(U32(count*s.Bytes), directAt)
	s.DECQ(directGroups)
	s.JNZ(LabelRef(label))
	if s.size == 1 {
		s.zero(s.Context, s.V(0))
		for j := range count {
			s.VPSUBD(s.start[j], s.V(0), s.start[j])
		}
	}
}

// tiles multiplies so many rows as long as there are as many.
func (s direct) tiles(rows, count int, columns func()) {
	loop, group, few := fmt.Sprintf("rows%dx%d", rows, count), fmt.Sprintf("group%dx%d", rows, count), fmt.Sprintf("few%dx%d", rows, count)
	sum := func(i, j int) reg.VecPhysical { return s.V(i*count + j) }
	half := min(rows, 4) // rows that a base reaches
	// beyond is what lies behind the tile.
	beyond := func(base, ld, to reg.GPPhysical) {
		if rows > half {
			s.LEAQ(Mem{Base: base, Index: ld, Scale: uint8(half)}, directFifth)
			base = directFifth
		}
		s.LEAQ(Mem{Base: base, Index: ld, Scale: uint8(half)}, to)
	}
	bases := func(first reg.GPPhysical) []reg.GPPhysical { return []reg.GPPhysical{first, directFifth}[:rows/half] }

	s.Label(loop)
	s.CMPQ(directLeft, U32(rows))
	s.JLT(LabelRef(few))
	beyond(directA, directLDA, directNext)
	for i := range rows {
		for j := range count {
			s.VMOVDQA32(s.start[j], sum(i, j))
		}
	}
	columns()
	s.Load(s.Param("groups"), directGroups)
	s.Label(group)
	for j := range count {
		s.VMOVDQU32(Mem{Base: directAt, Disp: j * s.Bytes}, s.column[j])
		if s.next != nil {
			s.PREFETCHT1(Mem{Base: directAt, Index: s.next, Scale: 1, Disp: j * s.Bytes})
		}
	}
	for i := range rows {
		f := s.factor[i%2]
		s.spread(s.Context, simd.Nth(bases(directA)[i/half], directLDA, directLDA3, i%half, 0), f)
		if s.size == 1 {
			s.VPXORD(f, s.flip, f)
		}
		for j := range count {
			s.dot(s.Context, s.column[j], f, sum(i, j))
		}
	}
	for _, base := range bases(directA) {
		s.ADDQ(U32(s.size*s.group), base)
	}
	s.ADDQ(U32(count*s.Bytes), directAt)
	s.DECQ(directGroups)
	s.JNZ(LabelRef(group))
	s.MOVQ(directNext, directA)
	beyond(directTo, directLDC, directNext)
	for i := range rows {
		for j := range count {
			s.VMOVDQU32(sum(i, j), simd.Nth(bases(directTo)[i/half], directLDC, directLDC3, i%half, j*s.Bytes))
		}
	}
	s.MOVQ(directNext, directTo)
	s.SUBQ(U32(rows), directLeft)
	s.JMP(LabelRef(loop))
	s.Label(few)
}
