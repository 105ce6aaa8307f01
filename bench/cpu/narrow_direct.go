package cpu

// narrowDirect is the plan of C = A*B by narrowKernels.direct. Each worker packs a panel of B, of all of k, into L2, and
// reads all its rows of A, unpacked, once for each panel: they are in L2, or there are few panels. Packing A would cost more
// than it saves, and multiplying the zeros that pad small panels more than all else. On a Zen 4 32x32x32 in int8 runs at
// 305 GOPS so, in place of 55; 8x64x64 at 237, in place of 31; 512x512x512 at 458, in place of 423; 960x12x16 in bf16 at
// 150 GFLOPS, in place of 12. Where making A unsigned on the way costs as much as multiplying, blocks may be faster: both are
// tried.
type narrowDirect struct {
	narrowKernels
	grid
	m, n, k int
	size    int // bytes of an element of A and B
}

// directRows is the height of most tiles.
const directRows = 8

// newNarrowDirect is nil if there is no such kernel for the product.
func newNarrowDirect(u unit, caches cacheSizes, threads, m, n, k int) *narrowDirect {
	l2 := orElse(caches.L2, typicalCaches.L2)
	d := &narrowDirect{u.gemm, newGrid(threads, m, n, directRows, u.gemm.nr), m, n, k, int(u.dtype.Bytes())}
	fewPanels := n <= narrowFewPanels*d.nr
	if d.direct == nil || d.roomBytes() > l2/2 || !fewPanels && ceilDiv(m, d.rows)*k*d.size > l2 {
		return nil
	}
	return d
}

// roomBytes is the size of the columns that a worker packs at a time.
func (d *narrowDirect) roomBytes() int {
	half := d.nr / 2
	columns := min(ceilDiv(d.n, half), 2) * half
	return columns * ceilDiv(d.k, d.group) * d.group * d.size
}

// run computes C on worker id.
func (d *narrowDirect) run(id int, room []byte, a, b, c byteRows) {
	i0, i1 := part(d.m, directRows, id/d.cols, d.rows)
	j0, j1 := part(d.n, d.nr, id%d.cols, d.cols)
	m, n := i1-i0, j1-j0
	if m <= 0 || n <= 0 {
		return
	}
	from, by, to := a.data[i0*a.ld:], b.data[j0*d.size:], c.data[i0*c.ld+j0*accBytes:]
	_, _, _ = from[(m-1)*a.ld+d.k*d.size-1], by[(d.k-1)*b.ld+n*d.size-1], to[(m-1)*c.ld+n*accBytes-1]
	_ = room[d.roomBytes()-1]
	d.direct(m, n, d.k, &from[0], a.ld, &by[0], b.ld, &to[0], c.ld, &room[0])
}

// vectors is the best unit of vectors that the case leaves.
func (ws *workspace) vectors() unit {
	if ws.vector != nil {
		return *ws.vector
	}
	return ws.unit
}
