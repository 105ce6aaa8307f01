package cpu

import (
	"unsafe"

	"hwcal/bench"
)

// A single row of C uses each element of B once, so that reading B is all its time: either with software prefetch, in
// the order of memory, or as several streams that the hardware prefetches. Which is faster differs between machines:
// so it is tried once, on the weights themselves.

// mayStream says whether there is a choice.
func (g *gemm[T]) mayStream() bool {
	return g.m == 1 && g.tileGEMVStreams != nil && g.n*int(unsafe.Sizeof(T(0)))%64 == 0 && g.n%g.nr == 0 && g.shares == nil
}

// panelsCall is how many panels of B one assembly call takes, a millisecond or less.
const panelsCall = 64

// computePanels computes a worker's columns of a single row of C, of packed panels of B.
func (g *gemm[T]) computePanels(id int, a, b, c []T, epi epilogue[T]) {
	j0, j1 := part(g.n, g.nr, id, g.threads())
	for pc := 0; pc < g.k; pc += g.kc {
		kc := min(g.kc, g.k-pc)
		for j := j0; j < j1; j += panelsCall * g.nr {
			cols := min(panelsCall*g.nr, j1-j)
			from := b[g.n*pc+j*kc:][:cols*kc]
			g.tileGEMVPanels(cols/g.nr, kc, &a[pc:][:kc][0], &from[0], g.nr*kc, &c[j:][:cols][0], pc > 0 || g.accumulate)
		}
	}
	if epi != nil && j0 < j1 {
		epi(c[j0:], g.n, 0, j0, 1, j1-j0)
	}
}

// tryStreams chooses between the ways for a tensor of weights.
func (l *linear[T]) tryStreams(ws *workspace, tensor *bench.Tensor) error {
	g := l.gemm
	if !g.mayStream() {
		return nil
	}
	room, err := scratch[T](ws, g.k+g.n)
	if err != nil {
		return err
	}
	x, y := matrix[T]{data: room[:g.k], rows: 1, cols: g.k, ld: g.k}, matrix[T]{data: room[g.k:], rows: 1, cols: g.n, ld: g.n}
	key := triedKey{ws.isa, "gemv", tensor}
	if l.weights.packed != nil {
		key.operations += "_packed"
	}
	var ways []*kernel
	for _, streams := range []bool{false, true} {
		planned, way := *g, *l
		planned.streams = streams
		way.gemm = &planned
		ways = append(ways, &kernel{body: func(w *worker) { way.run(w, x, y, nil) }})
	}
	g.streams = triedOnce(ws, key, ways) == 1
	return nil
}
