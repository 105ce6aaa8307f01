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

// directRows is the height of its tiles but the last one.
const directRows = 8

// directBlock is C = A*B of matrices that are in the caches. For each two vectors of columns, and a last one
// if there is a single one or a part of it, it interleaves the rows of B in room, in groups, and multiplies them by
// the rows of A as they come. What the last group lacks of k is zeros, in A and in B.
//
// int8: the elements of A become unsigned, A + 128, on their way, and the sums begin with -128 times those
// of the columns of B.
func (v vector) directBlock(c *build.Context) {
	s := v.newDirect(c, "gemmDirect", "func(m, n, k int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)")
	c.Load(c.Param("b"), directB)
	s.columns(func(count int) {
		s.interleave(count)
		s.rows(count, "room")
		c.ADDQ(U32(s.width(count)*v.size), directB)
	})
}

// directPanels does the same with panels of B that are packed, next bytes from each other, and fetches the next one. For
// int8, what the sums begin with lies so many bytes behind each.
func (v vector) directPanels(c *build.Context) {
	s := v.newDirect(c, "gemmPanels", "func(m, n, k int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)")
	s.next = directB
	c.Load(c.Param("next"), s.next)
	s.columns(func(count int) {
		for j, start := range s.start[:count] {
			if v.size == 1 {
				c.Load(c.Param("b"), directAt)
				c.ADDQ(param(c, "sums"), directAt)
				c.VMOVDQU32(Mem{Base: directAt, Disp: j * v.Bytes}, start)
			} else {
				v.zero(c, start)
			}
		}
		s.rows(count, "b")
		c.ADDQ(s.next, param(c, "b"))
	})
}

// newDirect begins such a function.
func (v vector) newDirect(c *build.Context, name, signature string) direct {
	s := direct{vector: v, Context: c, mask: reg.K1, rest: reg.K2}
	tall := directRows * vecs
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
	c.Load(c.Param("k"), directAt)
	c.ANDQ(U32(v.group-1), directAt)
	s.firstBits(directAt, s.rest)
	c.Load(c.Param("n"), directCols)
	return s
}

// firstBits sets so many bits of a mask, up to 64, and changes n and directLeft.
func (s direct) firstBits(n reg.GPPhysical, mask reg.OpmaskPhysical) {
	s.MOVQ(I32(-1), directLeft)
	s.BZHIQ(n, directLeft, n)
	s.KMOVQ(n, mask)
}

// columns goes through all columns and returns: so many vectors of them at a time, of the last of which mask says what
// is there.
func (s direct) columns(multiply func(count int)) {
	for count := vecs; count > 0; count-- {
		columns, whole, done := fmt.Sprintf("columns%d", count), fmt.Sprintf("whole%d", count), fmt.Sprintf("done%d", count)
		s.Label(columns)
		s.MOVQ(directCols, directAt)
		s.SUBQ(U32(s.width(count-1)), directAt)
		s.JLE(LabelRef(done))
		s.KXNORQ(s.mask, s.mask, s.mask)
		s.CMPQ(directAt, U32(s.width(1)))
		s.JGE(LabelRef(whole))
		s.firstBits(directAt, s.mask)
		s.Label(whole)
		multiply(count)
		s.ADDQ(U32(count*s.Bytes), directC)
		s.SUBQ(U32(s.width(count)), directCols)
		s.JMP(LabelRef(columns))
		s.Label(done)
	}
	s.VZEROUPPER()
	s.RET()
}

// rows multiplies all rows of A by so many vectors of columns, which lie where a parameter says.
func (s direct) rows(count int, columns string) {
	s.Load(s.Param("m"), directLeft)
	s.Load(s.Param("a"), directA)
	s.MOVQ(directC, directTo)
	for rows := directRows; rows > 0; rows-- {
		s.tiles(rows, count, columns)
	}
}

var (
	directCols, directB, directC = reg.RBX, reg.RSI, reg.RDI // columns left, of B and C
	directLDA, directLDA3        = reg.R8, reg.R9
	directLDC, directLDC3        = reg.R10, reg.R11
	directLeft                   = reg.R12 // rows
	directA, directTo            = reg.R13, reg.R14
	directAt, directK            = reg.R15, reg.RAX // in packed columns; elements of k left, less a group
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
	next          reg.GPPhysical     // how far behind a panel the next one is fetched, if there is one
	mask, rest    reg.OpmaskPhysical // what is there of the last vector, and of the last group of a row of A
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
	s.Load(s.Param("k"), directK)
	s.MOVQ(directB, directA)
	s.SUBQ(U32(s.group), directK)
	s.JLT(LabelRef(label + "rest"))
	s.Label(label)
	s.interleaveGroup(count, s.group)
	s.LEAQ(Mem{Base: directA, Index: directLDB, Scale: uint8(s.group)}, directA)
	s.ADDQ(U32(count*s.Bytes), directAt)
	s.SUBQ(U32(s.group), directK)
	s.JGE(LabelRef(label))
	s.Label(label + "rest")
	for rows := 1; rows < s.group; rows++ {
		s.CMPQ(directK, I32(rows-s.group))
		s.JNE(LabelRef(fmt.Sprint(label, "not", rows)))
		s.interleaveGroup(count, rows)
		s.Label(fmt.Sprint(label, "not", rows))
	}
	if s.size == 1 {
		s.zero(s.Context, s.V(0))
		for j := range count {
			s.VPSUBD(s.start[j], s.V(0), s.start[j])
		}
	}
}

// interleaveGroup does so with a group of so many rows.
func (s direct) interleaveGroup(count, rows int) {
	for j := range count {
		for i := range rows {
			row, r := simd.Nth(directA, directLDB, directLDB3, i, j*s.width(1)*s.size), s.V(i)
			switch {
			case s.size == 1 && j == count-1:
				s.VPMOVZXBD_Z(row, s.mask, r)
			case s.size == 1:
				s.VPMOVZXBD(row, r)
			case j == count-1:
				s.VPMOVZXWD_Z(row, s.mask, r)
			default:
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
}

// lowSets is how many sums of each element a tile of so many vectors keeps, of every other group or every fourth: fewer
// would not hide the latency of dot.
func (s direct) lowSets(vectors int) int {
	sets := 1
	for sets < 4 && 2*sets*vectors <= directRows {
		sets *= 2
	}
	return sets
}

// tiles multiplies so many rows if there are as many, directRows as long as there are.
func (s direct) tiles(rows, count int, columns string) {
	tile := fmt.Sprintf("%dx%d", rows, count)
	loop, group, rest, sums, few := "rows"+tile, "group"+tile, "rest"+tile, "sums"+tile, "few"+tile
	sets := s.lowSets(rows * count)
	sum := func(set, i, j int) reg.VecPhysical { return s.V((set*rows+i)*count + j) }
	eachSum := func(do func(i, j int)) {
		for i := range rows {
			for j := range count {
				do(i, j)
			}
		}
	}
	const half = 4 // rows that a base reaches
	// beyond is what lies behind the tile.
	beyond := func(base, ld, by, to reg.GPPhysical) {
		last := rows
		if rows > half {
			s.LEAQ(Mem{Base: base, Index: ld, Scale: half}, directFifth)
			base, last = directFifth, rows-half
		}
		s.LEAQ(simd.Nth(base, ld, by, last, 0), to)
	}
	bases := func(first reg.GPPhysical) []reg.GPPhysical {
		return []reg.GPPhysical{first, directFifth}[:(rows+half-1)/half]
	}

	multiply := func(set int, spread func(from Mem, f reg.VecPhysical)) {
		for j := range count {
			s.VMOVDQU32(Mem{Base: directAt, Disp: j * s.Bytes}, s.column[j])
			if s.next != nil {
				s.PREFETCHT1(Mem{Base: directAt, Index: s.next, Scale: 1, Disp: j * s.Bytes})
			}
		}
		for i := range rows {
			f := s.factor[i%2]
			spread(simd.Nth(bases(directA)[i/half], directLDA, directLDA3, i%half, 0), f)
			if s.size == 1 {
				s.VPXORD(f, s.flip, f)
			}
			for j := range count {
				s.dot(s.Context, s.column[j], f, sum(set, i, j))
			}
		}
	}

	s.Label(loop)
	s.CMPQ(directLeft, U32(rows))
	s.JLT(LabelRef(few))
	beyond(directA, directLDA, directLDA3, directNext)
	eachSum(func(i, j int) { s.VMOVDQA32(s.start[j], sum(0, i, j)) })
	for set := 1; set < sets; set++ {
		eachSum(func(i, j int) { s.zero(s.Context, sum(set, i, j)) })
	}
	s.Load(s.Param(columns), directAt)
	s.Load(s.Param("k"), directK)
	s.SUBQ(U32(s.group), directK)
	s.JLT(LabelRef(rest))
	pitch := count
	if s.next != nil { // packed panels have all vectors
		pitch = vecs
	}
	s.Label(group)
	for set := range sets {
		if set > 0 {
			s.JLT(LabelRef(rest))
		}
		multiply(set, func(from Mem, f reg.VecPhysical) { s.spread(s.Context, from, f) })
		for _, base := range bases(directA) {
			s.ADDQ(U32(s.size*s.group), base)
		}
		s.ADDQ(U32(pitch*s.Bytes), directAt)
		s.SUBQ(U32(s.group), directK)
	}
	s.JGE(LabelRef(group))
	s.Label(rest)
	s.CMPQ(directK, I32(-s.group))
	s.JEQ(LabelRef(sums))
	multiply(0, func(from Mem, f reg.VecPhysical) {
		if s.size == 1 {
			s.VMOVDQU8_Z(from, s.rest, f.AsX())
		} else {
			s.VMOVDQU16_Z(from, s.rest, f.AsX())
		}
		s.VPBROADCASTD(f.AsX(), f)
	})
	s.Label(sums)
	for set := 1; set < sets; set++ {
		eachSum(func(i, j int) { s.add(s.Context, sum(set, i, j), sum(0, i, j), sum(0, i, j)) })
	}
	s.MOVQ(directNext, directA)
	beyond(directTo, directLDC, directLDC3, directNext)
	eachSum(func(i, j int) {
		to := simd.Nth(bases(directTo)[i/half], directLDC, directLDC3, i%half, j*s.Bytes)
		if j == count-1 {
			s.VMOVDQU32(sum(0, i, j), s.mask, to)
		} else {
			s.VMOVDQU32(sum(0, i, j), to)
		}
	})
	s.MOVQ(directNext, directTo)
	s.SUBQ(U32(rows), directLeft)
	if rows == directRows {
		s.JMP(LabelRef(loop))
	}
	s.Label(few)
}
