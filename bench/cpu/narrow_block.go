package cpu

// narrowBlock is a block of C, m x n from (i0, j0) on, with the blocks of A and B that are
// multiplied into it: `steps` steps of k from pc on.
type narrowBlock struct {
	*narrowGEMM
	c              byteRows
	end            finish
	acc, spare     []byte
	i0, j0, m, n   int
	pc, steps      int
	a, b           []byte    // packed; a reaches to the end of all that is packed
	aheadA, aheadB lookahead // to prefetch: what follows a panel of A, unless that is the next packed one; the next block of B
	fetchA         lookahead // what is left to prefetch while the present panel of A is multiplied
	rows           byteRows  // A from step pc on, if it is not packed
}

func (t *narrowBlock) panelsA() int { return ceilDiv(t.m, t.mr) }
func (t *narrowBlock) panelsB() int { return ceilDiv(t.n, t.nr) }

// packAndMultiply packs each panel of A into mem right before it is multiplied, so that it is in L1 then, and
// keeps it if it is used again. (nextI, nextP) is where the next block of A begins.
func (t *narrowBlock) packAndMultiply(mem []byte, a byteRows, nextI, nextP int) {
	size, late := t.panelA(t.steps), t.panelsA()-t.lateRows()
	if !t.once() {
		mem = mem[t.panelsA()*t.panelA(t.pc):]
	}
	for i := range t.panelsA() {
		row := *t
		row.i0, row.m = t.i0+i*t.mr, min(t.mr, t.m-i*t.mr)
		row.acc = t.acc[i*t.panelsB()*t.tile():]
		row.a = mem[:size]
		t.packBlockA(row.a, a, row.i0, row.m, t.pc, t.steps)
		row.aheadA = ahead(a.data, (row.i0+t.mr)*a.ld+t.pc*stepBytes, a.ld, t.steps*stepBytes, t.steps)
		if i == t.panelsA()-1 {
			row.aheadA = ahead(a.data, nextI*a.ld+nextP*stepBytes, a.ld, t.steps*stepBytes, t.steps)
		}
		if i < late {
			row.aheadB = nothing(t.b, t.steps)
		}
		row.multiply()
		if i >= late {
			t.aheadB = row.aheadB
		}
		if !t.once() {
			mem = mem[size:]
		}
	}
}

// multiplyRows leaves whole panels of A as they come, and packs the last one if that lacks rows.
func (t *narrowBlock) multiplyRows(mem []byte, a byteRows) {
	whole, rest := *t, *t
	whole.m = t.m / t.mr * t.mr
	if whole.m > 0 {
		whole.rows = byteRows{a.data[t.pc*stepBytes:], a.ld}
		whole.multiply()
	}
	if rest.m -= whole.m; rest.m > 0 {
		rest.i0 += whole.m
		rest.acc = t.acc[whole.m/t.mr*t.panelsB()*t.tile():]
		rest.packAndMultiply(mem, a, t.narrowGEMM.m, 0)
	}
}

// multiply leaves the sums in acc, and those of the last steps in C, or where they end.
// What is whole tiles of C goes there at once, the rest by way of acc.
func (t *narrowBlock) multiply() {
	rows, cols := t.panelsA(), t.panelsB()
	if t.pc+t.steps < t.narrowGEMM.steps {
		t.tiles(0, rows, 0, cols, false)
		return
	}
	if t.end != nil {
		t.finishTiles()
		return
	}
	wholeRows, wholeCols := t.m/t.mr, t.n/t.nr
	t.tiles(0, wholeRows, 0, wholeCols, true)
	t.tiles(0, wholeRows, wholeCols, cols, false)
	t.tiles(wholeRows, rows, 0, cols, false)
	for i := range rows {
		for j := range cols {
			if i == wholeRows || j == wholeCols {
				t.copyTile(i, j)
			}
		}
	}
}

// hotTiles is the number of tiles that are computed before the epilogue runs on them. They stay in L1, beside
// the panels of A and B, or with AMX in L2, as L1 is left to A, and a call of block for few tiles costs more:
// on Sapphire Rapids 512x1024x1024 with bias and ReLU in int8 takes 0.49 ms with 12 KiB, 0.39 with 64.
func (g *narrowGEMM) hotTiles() int {
	bytes := 12 << 10
	if g.sparesL1 {
		bytes = 64 << 10
	}
	return max(1, bytes/g.tile())
}

// finishTiles computes a few tiles at a time and runs the epilogue on them while they are in the cache.
func (t *narrowBlock) finishTiles() {
	few := t.hotTiles()
	for i := range t.panelsA() {
		for j0 := 0; j0 < t.panelsB(); j0 += few {
			j1 := min(j0+few, t.panelsB())
			t.tiles(i, i+1, j0, j1, false)
			for j := j0; j < j1; j++ {
				t.finishTile(i, j)
			}
		}
	}
}

// finishTile runs the epilogue on a tile in acc, or copies it to C if there is none.
func (t *narrowBlock) finishTile(i, j int) {
	if t.end == nil {
		t.copyTile(i, j)
		return
	}
	sums := t.acc[(i*t.panelsB()+j)*t.tile():][:t.tile()]
	t.end(sums, t.i0+i*t.mr, t.j0+j*t.nr, min(t.mr, t.m-i*t.mr), min(t.nr, t.n-j*t.nr))
}

// lateRows is the number of rows of tiles that prefetch the next block of B, at two lines a step: nr/2 rows
// cover it. They are the last ones, as what is prefetched earlier would be evicted from L2 before its use.
func (t *narrowBlock) lateRows() int { return ceilDiv(t.nr, 2) }

// tiles multiplies panels [i0, i1) of A by panels [j0, j1) of B.
func (t *narrowBlock) tiles(i0, i1, j0, j1 int, direct bool) {
	late := max(i0, min(t.panelsA()-t.lateRows(), i1))
	aheadB := t.aheadB
	t.aheadB = nothing(t.b, t.steps)
	t.rowsOfTiles(i0, late, j0, j1, direct)
	t.aheadB = aheadB
	t.rowsOfTiles(late, i1, j0, j1, direct)
}

func (t *narrowBlock) rowsOfTiles(i0, i1, j0, j1 int, direct bool) {
	if i0 == i1 || j0 == j1 {
		return
	}
	switch {
	case j0 > 0:
	case t.rows.ld > 0:
		t.fetchA = lookahead{t.rows.data, 0, 0, 0}
		if t.panelsB() == 1 {
			t.fetchA.second = t.rows.ld
		}
	case t.aheadA.data != nil:
		t.fetchA = t.aheadA
	default:
		t.fetchA = ahead(t.a, (i0+1)*t.panelA(t.steps), 0, 0, t.steps)
	}
	row := t.panelsB() * t.tile() // of tiles in acc
	acc := t.acc[i0*row+j0*t.tile():]
	skip := row - (j1-j0)*t.tile()
	out, ldo, nextTile, nextRow := acc, t.nr*accBytes, t.tile(), row
	if direct {
		ldo, nextTile, nextRow = t.c.ld, t.nr*accBytes, t.mr*t.c.ld
		out = t.c.data[(t.i0+i0*t.mr)*ldo+(t.j0+j0*t.nr)*accBytes:]
		_ = out[((i1-i0)*t.mr-1)*ldo+(j1-j0)*t.nr*accBytes-1]
	}
	_ = acc[(i1-i0-1)*row+(j1-j0)*t.tile()-1]
	b := t.b[j0*t.panelB(t.steps):]
	_ = b[(j1-j0)*t.panelB(t.steps)-1]
	var a []byte
	if lda := t.rows.ld; lda > 0 {
		a = t.rows.data[(t.i0+i0*t.mr)*lda:]
		_ = a[((i1-i0)*t.mr-1)*lda+t.steps*stepBytes-1]
	} else {
		a = t.a[i0*t.panelA(t.steps):]
		_ = a[(i1-i0)*t.panelA(t.steps)-1]
	}
	t.block(t.mr, i1-i0, j1-j0, t.steps, &a[0], &b[0], &acc[0], t.pc > 0, skip,
		&out[0], ldo, nextTile, nextRow,
		&t.fetchA.data[t.fetchA.from], t.fetchA.second, t.fetchA.next,
		&t.aheadB.data[t.aheadB.from], t.aheadB.second, t.aheadB.next, &t.spare[0], t.rows.ld)
	done := (i1 - i0) * (j1 - j0)
	t.fetchA, t.aheadB = t.fetchA.after(j1-j0, t.steps), t.aheadB.after(done, t.steps)
}

// copyTile copies to C what it has of a tile in acc.
func (t *narrowBlock) copyTile(i, j int) {
	from := t.acc[(i*t.panelsB()+j)*t.tile():]
	rows, cols := min(t.mr, t.m-i*t.mr), min(t.nr, t.n-j*t.nr)
	to := t.c.data[(t.i0+i*t.mr)*t.c.ld+(t.j0+j*t.nr)*accBytes:]
	for r := range rows {
		copy(to[r*t.c.ld:][:cols*accBytes], from[r*t.nr*accBytes:])
	}
}

// lookahead is what block prefetches of an operand: data[from] is its argument ahead.
type lookahead struct {
	data               []byte
	from, second, next int
}

// nothing is a lookahead without effect: every tile prefetches the start of data again.
func nothing(data []byte, steps int) lookahead { return lookahead{data, 0, 0, -steps * stepBytes} }

// ahead prefetches rows of width bytes, ld bytes apart, from data[from] on. A tile covers two
// runs of a line for each of its steps: two rows, or the first two runs of a row that is longer
// than one. Packed data (ld 0) is one long row. Past the end of data it has no effect.
func ahead(data []byte, from, ld, width, steps int) lookahead {
	part := steps * stepBytes
	switch {
	case from >= len(data):
		return nothing(data, steps)
	case ld == 0:
		return lookahead{data, from, part, part}
	case width > part:
		return lookahead{data, from, part, ld - part}
	}
	return lookahead{data, from, ld, 2*ld - part}
}

// after is what is left to prefetch after a number of tiles.
func (l lookahead) after(tiles, steps int) lookahead {
	l.from += tiles * (steps*stepBytes + l.next)
	if l.from >= len(l.data) {
		return ahead(l.data, l.from, 0, 0, steps)
	}
	return l
}
