package cpu

// newPackedNarrowGEMM is for a B that is packed before the run, in panels of all of k. A is not packed, see
// narrowDirect: a block of its rows takes half of L2, and while they are multiplied by one panel of B the next one is
// prefetched, from whatever level it is in. On a Zen 4 64x64x64 in int8 runs at 423 GOPS so, in place of 240, and
// 512x1024x1024 in bf16 at 227 GFLOPS, in place of 220.
func newPackedNarrowGEMM(u unit, caches cacheSizes, threads, m, n, k int) (*narrowGEMM, error) {
	g, err := newNarrowGEMM(u, caches, threads, m, n, k)
	if err != nil || g.panels == nil {
		return g, err
	}
	shares := newGrid(threads, m, n, directRows, g.nr)
	l2 := orElse(caches.L2, typicalCaches.L2)
	if ceilDiv(m, shares.rows) < streamRows && ceilDiv(n, shares.cols)*k*g.size > l2 {
		return g, nil
	}
	g.unpackedA, g.grid, g.kc = true, shares, g.steps
	g.mc = max(l2/2/(k*g.size)/directRows, 1) * directRows
	return g, nil
}

// streamRows is the number of rows of a worker from which on this is faster if B comes from beyond L2: with fewer, the
// tiles of blocked panels keep more independent sums, and fetch B further ahead.
const streamRows = 4

// rowsAreFaster tells whether the unit is faster on unpacked rows of A than on panels that it packs. It may be slower where
// the instruction that makes A unsigned on the way competes with the multiplications for a port. It is tried once for all
// cases, on a product in L1, so that both sides of a pair multiply the same way.
func (ws *workspace) rowsAreFaster(u unit) (bool, error) {
	if u.gemm.panels == nil {
		return false, nil
	}
	if faster, known := ws.memory.unpackedA[u.name]; known {
		return faster, nil
	}
	const rows, panels, steps, times = 7 * directRows, 2, 4, 2 // whole tiles of both
	m, n, k := rows, panels*u.gemm.nr, steps*stepBytes/int(u.dtype.Bytes())
	var ways []*kernel
	for _, plan := range []func(u unit, caches cacheSizes, threads, m, n, k int) (*narrowGEMM, error){newNarrowGEMM, newPackedNarrowGEMM} {
		g, err := plan(u, ws.caches, 1, m, n, k)
		if err != nil {
			return false, err
		}
		var parts [4][]byte
		for i, size := range []int64{g.scratchBytes(), int64(g.packedBytes()), int64(m * k * g.size), int64(m * n * accBytes)} {
			if parts[i], err = ws.memory.alloc(size); err != nil {
				return false, err
			}
		}
		scratch, err := g.newScratch(parts[0])
		if err != nil {
			return false, err
		}
		packed, a, c := parts[1], byteRows{parts[2], k * g.size}, byteRows{parts[3], n * accBytes}
		ways = append(ways, &kernel{body: func(w *worker) {
			if w.id == 0 {
				for range times {
					g.run(0, scratch[0], a, byteRows{}, packed, c, nil)
				}
			}
		}})
	}
	faster := fastestOf(ws.team, ways) == 1
	if ws.memory.unpackedA == nil {
		ws.memory.unpackedA = map[string]bool{}
	}
	ws.memory.unpackedA[u.name] = faster
	return faster, nil
}

// computeRows does what run says with panels of B, of all of k, and rows of A as they come.
func (g *narrowGEMM) computeRows(id int, s narrowScratch, a byteRows, packed []byte, c byteRows, end finish) {
	i0, i1 := part(g.m, directRows, id/g.cols, g.rows)
	j0, j1 := part(g.n, g.nr, id%g.cols, g.cols)
	if i0 >= i1 || j0 >= j1 {
		return
	}
	for ; i0 < i1; i0 += g.mc {
		g.computeBlock(s, a, packed, c, end, i0, min(i0+g.mc, i1), j0, j1)
	}
}

// computeBlock computes rows [i0, i1) of columns [j0, j1).
func (g *narrowGEMM) computeBlock(s narrowScratch, a byteRows, packed []byte, c byteRows, end finish, i0, i1, j0, j1 int) {
	if end == nil {
		g.multiplyPanels(a, i0, i1, packed, j0, j1, byteRows{c.data[i0*c.ld+j0*accBytes:], c.ld})
		return
	}
	row := g.nr * accBytes
	few := hotSums / row // rows whose sums wait for what finishes them
	for j := j0; j < j1; j += g.nr {
		n := min(g.nr, j1-j)
		for i := i0; i < i1; i += few {
			m := min(few, i1-i)
			g.multiplyPanels(a, i, i+m, packed, j, j+n, byteRows{s.c, row})
			end(s.c, i, j, m, n)
		}
	}
}

// hotSums is the size of sums that stay in L1, beside a panel of B and some rows of A, until they are finished.
const hotSums = 8 << 10

// multiplyPanels writes the sums of rows [i0, i1) and columns [j0, j1), from the first of a panel on, to out.
func (g *narrowGEMM) multiplyPanels(a byteRows, i0, i1 int, packed []byte, j0, j1 int, out byteRows) {
	m, n := i1-i0, j1-j0
	from, by, next := a.data[i0*a.ld:], packed[g.packedAt(j0, g.nr, 0):], g.panelB(g.steps)
	_, _, _ = from[(m-1)*a.ld+g.k*g.size-1], by[ceilDiv(n, g.nr)*next-1], out.data[(m-1)*out.ld+n*accBytes-1]
	g.panels(m, n, g.k, &from[0], a.ld, &by[0], next, g.nr*stepBytes*g.steps, &out.data[0], out.ld)
}
