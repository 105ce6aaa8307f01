package cpu

// narrowBlock is a block of C, m x n from (i0, j0), and the blocks of A and B that
// are multiplied into it: steps steps from pc on.
type narrowBlock struct {
	*narrowGEMM
	c              byteRows
	end            finish
	acc            []byte
	i0, j0, m, n   int
	pc, steps      int
	a, b           []byte
	aheadA, aheadB lookahead
}

func (t *narrowBlock) panelsA() int { return ceilDiv(t.m, t.mr) }
func (t *narrowBlock) panelsB() int { return ceilDiv(t.n, t.nr) }

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

// hotBytes is the size of tiles that wait in L1 for what finishes them, beside the
// panels of A and B that made them.
const hotBytes = 12 << 10

// finishTiles lets tiles end as soon as they are complete.
func (t *narrowBlock) finishTiles() {
	few := max(1, hotBytes/t.tile())
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

// finishTile lets the sums of a tile in acc end.
func (t *narrowBlock) finishTile(i, j int) {
	if t.end == nil {
		t.copyTile(i, j)
		return
	}
	sums := t.acc[(i*t.panelsB()+j)*t.tile():][:t.tile()]
	t.end(sums, t.i0+i*t.mr, t.j0+j*t.nr, min(t.mr, t.m-i*t.mr), min(t.nr, t.n-j*t.nr))
}

// tiles multiplies panels [i0, i1) of A by panels [j0, j1) of B.
func (t *narrowBlock) tiles(i0, i1, j0, j1 int, direct bool) {
	if i0 == i1 || j0 == j1 {
		return
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
	a, b := t.a[i0*t.panelA(t.steps):], t.b[j0*t.panelB(t.steps):]
	_, _ = a[(i1-i0)*t.panelA(t.steps)-1], b[(j1-j0)*t.panelB(t.steps)-1]
	t.block(t.mr, i1-i0, j1-j0, t.steps, &a[0], &b[0], &acc[0], t.pc > 0, skip,
		&out[0], ldo, nextTile, nextRow,
		&t.aheadA.data[t.aheadA.from], t.aheadA.second, t.aheadA.next,
		&t.aheadB.data[t.aheadB.from], t.aheadB.second, t.aheadB.next)
	done := (i1 - i0) * (j1 - j0)
	t.aheadA, t.aheadB = t.aheadA.after(done, t.steps), t.aheadB.after(done, t.steps)
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

// lookahead is what block fetches of an operand.
type lookahead struct {
	data               []byte
	from, second, next int
}

// ahead fetches rows of width bytes, ld bytes apart, from data[from] on: two rows a
// tile, or two parts of one that is longer than the lines that a tile has steps for;
// what is packed is one long row. Where nothing follows, it fetches what it has.
func ahead(data []byte, from, ld, width, steps int) lookahead {
	part := steps * stepBytes
	switch {
	case from >= len(data):
		return lookahead{data, 0, 0, -part}
	case ld == 0:
		return lookahead{data, from, part, part}
	case width > part:
		return lookahead{data, from, part, ld - part}
	}
	return lookahead{data, from, ld, 2*ld - part}
}

// after is what is left of it behind a number of tiles.
func (l lookahead) after(tiles, steps int) lookahead {
	l.from += tiles * (steps*stepBytes + l.next)
	if l.from >= len(l.data) {
		return ahead(l.data, l.from, 0, 0, steps)
	}
	return l
}
