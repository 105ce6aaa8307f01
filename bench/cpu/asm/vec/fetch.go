package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// fetchDistance is half a page. Kernels that run over blocks of workers, too, fetch no further: see
// blocksOf.
const fetchDistance = 2048

// fetchFar fetches a line for a kernel that memory binds, into L2. On its way to L1 a line holds one of
// few buffers all the time, for which loads that find theirs in L2 then wait: layer norm ran at 23 GB/s so on a
// Zen 4 with rows of 2048, and runs at 44, and at 24 on a Sapphire Rapids with rows of 4096, and runs at 26.
func (g *gen) fetchFar(m operand.Mem) { g.emit("PREFETCHT1", m) }

// pace waits for the loads so far: see simd.FarDistance. A Zen 4 ran layer norm at 29 GB/s with rows of 4096, and runs it
// at 35 so paced; the root mean square at 27, and 40; sums of columns at 21, and 28.
func (g *gen) pace() { g.LFENCE() }

// fetchAhead fetches what is needed fetchDistance later, the lines of some vectors. Kernels that take long for a
// vector have too few loads under way to keep memory busy.
func (g *gen) fetchAhead(src, at reg.Register, vectors int) {
	for line := 0; line < vectors*g.step(); line += 64 {
		m := operand.Mem{Base: src, Disp: fetchDistance + line}
		if at != nil {
			m.Index, m.Scale = at, 1
		}
		g.PREFETCHT0(m)
	}
}

// fetchFarLine fetches the line that lies simd.FarDistance behind an offset, if one begins there.
func (g *gen) fetchFarLine(base reg.Register, at int) {
	if at%64 == 0 {
		g.fetchFar(operand.Mem{Base: base, Disp: simd.FarDistance + at})
	}
}
