package cpu

import "encoding/binary"

// skinnyBytes of a row of A are a step of narrowKernels.skinny.
const skinnyBytes = 8

// narrowSkinnyPanels is how many panels of C it works on at a time.
const narrowSkinnyPanels = 4

// readsB says whether B, if it comes as it is, is not packed: if all rows are in one panel,
// packing takes as long as multiplying. Seen on Zen 5 with 14 rows: as fast as packing
// where B is narrow, twice as fast where it is wide.
func (g *narrowGEMM) readsB() bool { return g.skinny != nil && g.m == g.mr }

// skinnyCols is the width of a block of C that is summed up in L1, where it takes
// half of 32 KiB.
func (g *narrowGEMM) skinnyCols() int {
	some := narrowSkinnyPanels * g.nr
	return max(16<<10/accBytes/g.m/some, 1) * some
}

// skinnyLengths are the sizes in bytes of a block of the last rows of B, and of one of C.
func (g *narrowGEMM) skinnyLengths() (b, c int) {
	return skinnyBytes * g.skinnyCols(), g.m * g.skinnyCols() * accBytes
}

// computeSkinny computes a worker's columns of C. B is read once, row by row.
func (g *narrowGEMM) computeSkinny(id int, s narrowScratch, a, b, c byteRows, end finish) {
	lo, hi := part(g.n, g.nr, id%g.cols, g.cols)
	depth := skinnyBytes / g.size // rows of B of a step
	whole, steps := g.k/depth, ceilDiv(g.k, depth)
	x := g.skinnyX(s.a, a, steps)
	for j := lo; j < hi; j += g.skinnyCols() {
		n := min(g.skinnyCols(), hi-j)
		t := narrowBlock{narrowGEMM: g, c: c, end: end, acc: s.c, j0: j, m: g.m, n: n}
		t.begin(a)
		for at := 0; at < whole; at += skinnySteps {
			count := min(skinnySteps, whole-at)
			from := b.data[at*depth*b.ld+j*g.size:]
			_ = from[(count*depth-1)*b.ld+n*g.size-1]
			g.skinny(g.m, n, count, &x[at*g.m*skinnyBytes], &from[0], b.ld, &t.acc[0])
		}
		if steps > whole {
			ld := n * g.size
			rest := s.b[:depth*ld]
			clear(rest)
			for p := whole * depth; p < g.k; p++ {
				copy(rest[(p-whole*depth)*ld:][:ld], b.data[p*b.ld+j*g.size:])
			}
			g.skinny(g.m, n, 1, &x[whole*g.m*skinnyBytes], &rest[0], ld, &t.acc[0])
		}
		for p := range t.panelsB() {
			t.finishTile(0, p)
		}
	}
}

// skinnyX copies A as [steps][m][8 bytes], with zeros behind the last column.
func (g *narrowGEMM) skinnyX(x []byte, a byteRows, steps int) []byte {
	x = x[:steps*g.m*skinnyBytes]
	for i := range g.m {
		row := a.data[i*a.ld:][:g.k*g.size]
		for p := range steps {
			to := x[(p*g.m+i)*skinnyBytes:][:skinnyBytes]
			clear(to[copy(to, row[p*skinnyBytes:]):])
		}
	}
	return x
}

// begin sets the sums to what the kernel adds to: where it makes B unsigned, B + 128, -128
// times the sum of the row of A, else 0.
func (t *narrowBlock) begin(a byteRows) {
	used := t.acc[:ceilDiv(t.panelsB(), narrowSkinnyPanels)*narrowSkinnyPanels*t.tile()]
	clear(used)
	if t.sumB == nil {
		return
	}
	for i := range t.m {
		sum := int32(0)
		for _, x := range a.data[i*a.ld:][:t.k] {
			sum += int32(int8(x))
		}
		for at := i * t.nr * accBytes; at < len(used); at += t.tile() {
			for j := range t.nr {
				binary.NativeEndian.PutUint32(used[at+j*accBytes:], uint32(-128*sum))
			}
		}
	}
}
