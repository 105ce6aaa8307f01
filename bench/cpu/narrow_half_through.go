package cpu

import "sync"

// halvesThrough makes kernels for halves of those for fp32: rows, or blocks of them, are widened to memory that
// stays in L1, and rounded from there.
func halvesThrough(half halfKernels, k vecKernels[float32]) storedKernels[uint16, float32] {
	mapped := func(f mapKernel[float32, float32]) mapKernel[uint16, float32] {
		return func(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, _ nontemporal) {
			second := wideRow(min(n, blockElems))
			defer second.giveBack()
			half.eachBlock(dst, src, ldd, lds, m, n, func(x []float32, i, j int) {
				var z *float32
				if y != nil {
					z = &second.x[0]
					half.widenRow(second.x[:len(x)], at(y, i*ldy+j))
				}
				f(&x[0], &x[0], z, len(x), len(x), len(x), 1, len(x), a, b, cached)
			})
		}
	}
	joined := func(f mapKernel[float32, float32]) joinKernel[uint16, float32] {
		return func(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int, a, b float32, _ nontemporal) {
			half.eachRow(y, ldy, m, n, func(z []float32, i int) {
				f(at(dst, i*ldd), at(src, i*lds), &z[0], n, n, n, 1, n, a, b, cached)
			})
		}
	}
	toOne := func(f func(dst, src *float32, lds, m, n int)) func(dst *float32, src *uint16, lds, m, n int) {
		return func(dst *float32, src *uint16, lds, m, n int) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) { f(at(dst, i), &x[0], n, 1, n) })
		}
	}
	columns := func(f func(dst, src *float32, ld, m, n int)) func(dst *float32, src *uint16, ld, m, n int) {
		return func(dst *float32, src *uint16, ld, m, n int) {
			half.eachRow(src, ld, m, n, func(x []float32, _ int) { f(dst, &x[0], n, 1, n) })
		}
	}
	addTo := joined(k.add)
	return storedKernels[uint16, float32]{
		exp:      mapped(k.exp),
		tanh:     mapped(k.tanh),
		relu:     mapped(k.relu),
		gelu:     mapped(k.gelu),
		silu:     mapped(k.silu),
		scale:    mapped(k.scale),
		add:      mapped(k.add),
		mul:      mapped(k.mul),
		sub:      mapped(k.sub),
		div:      mapped(k.div),
		geluTanh: mapped(k.geluTanh),
		sigmoid:  mapped(k.sigmoid),
		addFar:   addTo,
		maxFar:   joined(k.max),
		affineRows: func(dst, src *uint16, a, b *float32, ldd, lds, m, n int, _ nontemporal) {
			half.eachBlock(dst, src, ldd, lds, m, n, func(x []float32, i, _ int) {
				k.affineRows(&x[0], &x[0], at(a, i), at(b, i), len(x), len(x), 1, len(x), cached)
			})
		},
		rowSums:  toOne(k.rowSums),
		rowMaxes: toOne(k.rowMaxes),
		rowExpSums: func(sums, largest *float32, src *uint16, lds, m, n int) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) { k.rowExpSums(at(sums, i), at(largest, i), &x[0], n, 1, n) })
		},
		rowDistance: func(src, y *uint16, n int, _ bool) float32 {
			var sum float32
			x, z := wideRow(min(n, blockElems)), wideRow(min(n, blockElems))
			defer x.giveBack()
			defer z.giveBack()
			for lo := 0; lo < n; lo += blockElems {
				m := min(blockElems, n-lo)
				half.widenRow(x.x[:m], at(src, lo))
				half.widenRow(z.x[:m], at(y, lo))
				sum += k.rowDistance(&x.x[0], &z.x[0], m, false)
			}
			return sum
		},
		layerNorm: func(dst, src *uint16, gamma, beta *float32, ldd, lds, m, n int, eps float32, _ nontemporal) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) {
				k.layerNorm(&x[0], &x[0], gamma, beta, n, n, 1, n, eps, cached)
				half.round(at(dst, i*ldd), &x[0], n, n, 1, n)
			})
		},
		addLayerNorm: func(dst, src, y *uint16, gamma, beta, _ *float32, ldd, lds, ldy, m, n int, eps float32, _ nontemporal) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) {
				addTo(&x[0], &x[0], at(y, i*ldy), n, n, n, 1, n, 0, 0, cached)
				k.layerNorm(&x[0], &x[0], gamma, beta, n, n, 1, n, eps, cached)
				half.round(at(dst, i*ldd), &x[0], n, n, 1, n)
			})
		},
		rmsNorm: func(dst, src *uint16, gamma *float32, ldd, lds, m, n int, eps float32, _ nontemporal) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) {
				k.rmsNorm(&x[0], &x[0], gamma, n, n, 1, n, eps, cached)
				half.round(at(dst, i*ldd), &x[0], n, n, 1, n)
			})
		},
		dropout: func(dst, src *uint16, n int, scale float32, least, counter uint32, _ nontemporal) {
			half.eachBlock(dst, src, n, n, 1, n, func(x []float32, _, j int) {
				k.dropout(&x[0], &x[0], len(x), scale, least, counter+uint32(j)*weyl, cached)
			})
		},
		addGeluDropout: func(dst, src, y *uint16, n int, scale float32, least, counter uint32, _ nontemporal) {
			half.eachBlock(dst, src, n, n, 1, n, func(x []float32, _, j int) {
				addTo(&x[0], &x[0], at(y, j), len(x), len(x), len(x), 1, len(x), 0, 0, cached)
				k.gelu.slice(x, x, nil, 0, 0)
				k.dropout(&x[0], &x[0], len(x), scale, least, counter+uint32(j)*weyl, cached)
			})
		},
		softmaxRows: func(dst, src, y *uint16, _ *float32, ldd, lds, ldy, m, n int, scale float32, _ nontemporal) {
			half.eachRow(src, lds, m, n, func(x []float32, i int) {
				if y != nil {
					addTo(&x[0], &x[0], at(y, i*ldy), n, n, n, 1, n, 0, 0, cached)
				}
				k.softmaxRows(&x[0], &x[0], nil, nil, n, n, n, 1, n, scale, cached)
				half.round(at(dst, i*ldd), &x[0], n, n, 1, n)
			})
		},
		colMax: columns(k.colMax),
		colSum: columns(k.colSum),
	}
}

// wide is memory for a row in fp32. It is taken from others that are done with it: what is timed makes no garbage, which
// would not be collected meanwhile.
type wide struct{ x []float32 }

var wideRows = sync.Pool{New: func() any { return new(wide) }}

func wideRow(n int) *wide {
	row := wideRows.Get().(*wide)
	if cap(row.x) < n {
		row.x = make([]float32, n)
	}
	row.x = row.x[:n]
	return row
}

func (w *wide) giveBack() { wideRows.Put(w) }

// widenRow widens len(x) elements.
func (k halfKernels) widenRow(x []float32, src *uint16) {
	k.widen(&x[0], src, len(x), len(x), 1, len(x))
}

// eachRow lets f have the rows of a matrix in fp32.
func (k halfKernels) eachRow(src *uint16, lds, m, n int, f func(x []float32, i int)) {
	row := wideRow(n)
	defer row.giveBack()
	for i := range m {
		k.widenRow(row.x, at(src, i*lds))
		f(row.x, i)
	}
}

// eachBlock lets f change blocks of the rows of a matrix, from element (i, j) on, in fp32.
func (k halfKernels) eachBlock(dst, src *uint16, ldd, lds, m, n int, f func(x []float32, i, j int)) {
	block := wideRow(min(n, blockElems))
	defer block.giveBack()
	for i := range m {
		for j := 0; j < n; j += blockElems {
			x := block.x[:min(blockElems, n-j)]
			k.widenRow(x, at(src, i*lds+j))
			f(x, i, j)
			k.round(at(dst, i*ldd+j), &x[0], len(x), len(x), 1, len(x))
		}
	}
}
