package cpu

// narrowA is A, unpacked in rows or as prepackA packed it.
type narrowA struct {
	rows   byteRows
	packed []byte
}

// narrowB is where blocks of B come from.
type narrowB interface {
	// block is the packed block of n columns from j0 on and `steps` steps from pc on; it is packed
	// into dst unless all of B was packed before.
	block(dst []byte, j0, n, pc, steps int) []byte
	// ahead is what to prefetch for the block of n columns from j0 and of the steps from pc
	// on, while a block of `steps` steps is multiplied.
	ahead(j0, n, pc, steps int) lookahead
}

// rowsB is B as it comes.
type rowsB struct {
	*narrowGEMM
	rows byteRows
	edge []byte
}

func (b rowsB) block(dst []byte, j0, n, pc, steps int) []byte {
	b.packBlockB(dst, b.rows, b.edge, j0, n, pc, steps)
	return dst
}

func (b rowsB) ahead(j0, n, pc, steps int) lookahead {
	return ahead(b.rows.data, pc*stepBytes/b.size*b.rows.ld+j0*b.size, b.rows.ld, n*b.size, steps)
}

// packedB is B as prepackB made it.
type packedB struct {
	*narrowGEMM
	packed []byte
}

func (b packedB) block(_ []byte, j0, n, pc, _ int) []byte { return b.packed[b.packedAt(j0, n, pc):] }

func (b packedB) ahead(j0, n, pc, steps int) lookahead {
	return ahead(b.packed, b.packedAt(j0, n, pc), 0, 0, steps)
}

// packedAt is where the block of B of n columns from j0 and of steps from pc begins
// if all of B is packed: the blocks of the same columns follow each other.
func (g *narrowGEMM) packedAt(j0, n, pc int) int {
	sums := g.panelB(0)
	whole := g.panelB(g.steps) - sums + ceilDiv(g.steps, g.kc)*sums // of all steps
	return j0/g.nr*whole + ceilDiv(n, g.nr)*(g.panelB(pc)-sums+pc/g.kc*sums)
}

// packedBytes is the length that prepackB wants.
func (g *narrowGEMM) packedBytes() int { return g.packedAt(ceilDiv(g.n, g.nr)*g.nr, 0, 0) }

// prepackB packs all of B, once for many runs. It is serial.
func (g *narrowGEMM) prepackB(dst []byte, b byteRows, edge []byte) []byte {
	return g.prepackColumns(dst, edge, func(j0, _ int) byteRows { return byteRows{b.data[j0*g.size:], b.ld} })
}

// prepackColumns does so with what columns gives for n columns from j0 on.
func (g *narrowGEMM) prepackColumns(dst, edge []byte, columns func(j0, n int) byteRows) []byte {
	dst = dst[:g.packedBytes()]
	for col := range g.cols {
		j0, j1 := part(g.n, g.nr, col, g.cols)
		for jc := j0; jc < j1; jc += g.nc {
			n := min(g.nc, j1-jc)
			b := columns(jc, n)
			for pc := 0; pc < g.steps; pc += g.kc {
				g.packBlockB(dst[g.packedAt(jc, n, pc):], b, edge, 0, n, pc, min(g.kc, g.steps-pc))
			}
		}
	}
	return dst
}

// packedABytes is the length that prepackA wants.
func (g *narrowGEMM) packedABytes() int { return ceilDiv(g.m, g.mr) * g.panelA(g.steps) }

// prepackA packs all of A, once for many runs. It is serial.
func (g *narrowGEMM) prepackA(dst []byte, a byteRows) {
	for row := range g.rows {
		i0, i1 := part(g.m, g.mr, row, g.rows)
		for ic := i0; ic < i1; ic += g.mc {
			m := min(g.mc, i1-ic)
			block := dst[ic/g.mr*g.panelA(g.steps):]
			for pc := 0; pc < g.steps; pc += g.kc {
				g.packBlockA(block[ceilDiv(m, g.mr)*g.panelA(pc):], a, ic, m, pc, min(g.kc, g.steps-pc))
			}
		}
	}
}
