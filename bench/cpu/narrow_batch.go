package cpu

// newNarrowBatch plans the products of a batch, each for one worker. A small A is packed at once.
func newNarrowBatch(u unit, caches cacheSizes, m, n, k int) (*narrowGEMM, error) {
	g, err := newNarrowGEMM(u, caches, 1, m, n, k)
	if err != nil {
		return nil, err
	}
	if g.mr*ceilDiv(m, g.mr)*g.steps*stepBytes > orElse(caches.L1, typicalCaches.L1)/2 {
		return g, nil
	}
	if rows := dividingRows(m, g.mr); g.anyRows && rows > 0 {
		g.mr = rows
	}
	g.mc = ceilDiv(m, g.mr) * g.mr
	g.wholeA = true
	return g, nil
}

// fewRows is the least height to which a tile is cut so that it divides m: shorter ones would cost more
// than one tile at the edge.
const fewRows = 8

// dividingRows is the largest number from fewRows to most that divides m; 0 if none does.
func dividingRows(m, most int) int {
	for mr := most; mr >= fewRows; mr-- {
		if m%mr == 0 {
			return mr
		}
	}
	return 0
}

// narrowSkinnyRows are so few that B is read as it comes, in half the time that packing takes.
const narrowSkinnyRows = 3

// oneBlock says that the product is a single block for one worker, packed as a whole.
func (g *narrowGEMM) oneBlock() bool {
	return g.wholeA && g.m > narrowSkinnyRows && g.m <= g.mc && g.n <= g.nc && g.steps <= g.kc
}

// multiplyBlock computes C = A*B of one block, without what finds its way between blocks: that takes
// longer than a small product.
func (g *narrowGEMM) multiplyBlock(s narrowScratch, a, b, c byteRows) {
	g.packBlockA(s.a, a, 0, g.m, 0, g.steps)
	g.packBlockB(s.b, b, s.spare, 0, g.n, 0, g.steps)
	t := narrowBlock{narrowGEMM: g, c: c, acc: s.c, spare: s.spare, m: g.m, n: g.n, steps: g.steps, a: s.a, b: s.b, aheadB: nothing(s.b, g.steps)}
	t.multiply()
}
