package cpu

import (
	"fmt"

	"hwcal/bench"
)

// narrowLinear is a matrix multiplication by weights in a narrow type, ready to run on a
// block of rows.
type narrowLinear struct {
	unit    string
	gemm    *narrowGEMM
	scratch []narrowScratch
	weights byteRows
	packed  []byte // weights, if they are known before the run
}

// newNarrowLinear plans rows x n = (rows x k) (k x n), for blocks of that many rows or
// fewer, with weights that are packed before the run or not.
func newNarrowLinear(ws *workspace, rows, n, k int, packed bool) (*narrowLinear, error) {
	u := ws.unitFor(rows, packed)
	plan := newPlainNarrowGEMM
	if packed {
		plan = newNarrowGEMM
		if faster, err := ws.rowsAreFaster(u); err != nil {
			return nil, err
		} else if faster {
			plan = newPackedNarrowGEMM
		}
	}
	g, err := plan(u, ws.caches, len(ws.workers), rows, n, k)
	if err != nil {
		return nil, err
	}
	mem, err := ws.sharedScratch(g.scratchBytes())
	if err != nil {
		return nil, err
	}
	s, err := g.newScratch(mem)
	return &narrowLinear{unit: u.name, gemm: g, scratch: s}, err
}

// unitFor is the unit for that many rows. With few rows vectors multiply as fast as weights come from memory,
// which they read at up to twice the rate of tiles, most of whose rows are empty. Where weights are not packed they
// may be more: vectors need no longer for these than packing for tiles. Both limits grow with the group,
// the products that a vector instruction adds at once.
// Seen on Sapphire Rapids: 8 rows of int8, packed, at 28.6 GB/s by vectors and 24.7 by tiles; 8 of bf16
// at 15.1 and 27.0, or 12.0 and 8.7 if they are not packed.
func (ws *workspace) unitFor(rows int, packed bool) unit {
	few := 2
	if !packed {
		few = 4
	}
	if v := ws.vector; v != nil && rows <= min(few*v.gemm.group, v.gemm.mr) {
		return *v
	}
	return ws.unit
}

// name of the micro-kernel.
func (l *narrowLinear) name() string {
	if l.gemm.unpackedA {
		return "gemm_direct_" + l.unit
	}
	return fmt.Sprintf("gemm_%dx%d_%s", l.gemm.mr, l.gemm.nr, l.unit)
}

// prepack packs the weights before the run, as parameters are.
func (l *narrowLinear) prepack(ws *workspace, weights *bench.Tensor) (err error) {
	g := l.gemm
	key := packedKey{weights, fmt.Sprintf("%s, blocks of %d by %d for %d", l.unit, g.kc, g.nc, g.cols)}
	l.packed, err = ws.packedOnce(key, int64(g.packedBytes()), func(dst []byte) {
		g.prepackB(dst, byteRowsOf(ws, weights), l.scratch[0].spare)
	})
	return err
}

// prepackPairs packs two matrices of weights of n columns each so that half of each
// micro-panel is of either.
func (l *narrowLinear) prepackPairs(ws *workspace, a, b byteRows) error {
	g := l.gemm
	mem, err := ws.forWorkers(int64(g.packedBytes()))
	if err != nil {
		return err
	}
	panel := g.nr * g.size
	both := byteRows{make([]byte, g.k*g.nc*g.size), g.nc * g.size}
	l.packed = g.prepackColumns(mem, l.scratch[0].spare, func(j0, n int) byteRows {
		for p := range g.k {
			row, first := both.data[p*both.ld:], j0/2*g.size
			for j := 0; j < n*g.size; j += panel {
				half := min(panel, n*g.size-j) / 2
				copy(row[j:][:half], a.data[p*a.ld+first+j/2:])
				copy(row[j+half:][:half], b.data[p*b.ld+first+j/2:])
			}
		}
		return both
	})
	return nil
}

// run multiplies m rows of x into those of y, or to end.
func (l *narrowLinear) run(w *worker, m int, x, y byteRows, end finish) {
	g := l.gemm
	if m < g.m {
		fewer := *g
		fewer.m = m
		g = &fewer
	}
	g.run(w.id, l.scratch[w.id], x, l.weights, l.packed, y, end)
}

// byteRowsOf views a tensor by its rows.
func byteRowsOf(ws *workspace, t *bench.Tensor) byteRows {
	mem := ws.bytes(t)
	return byteRows{mem, len(mem) / int(t.Dims[0])}
}

// from are the rows from row i on.
func (r byteRows) from(i int) byteRows { return byteRows{r.data[i*r.ld:], r.ld} }

// from tells what finishes a block of rows where in the matrix it is.
func (f finish) from(row int) finish {
	return func(sums []byte, i0, j0, m, n int) { f(sums, row+i0, j0, m, n) }
}
