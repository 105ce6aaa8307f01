package cpu

import (
	"unsafe"

	"hwcal/bench"
)

func init() {
	register("embedding", bindEmbedding[float32], bindEmbedding[float64])
	register("permute", bindPermute[float32], bindPermute[float64])
	register("concat", bindConcat[float32], bindConcat[float64])
	register("transpose", bindTranspose[float32], bindTranspose[float64])
}

// words views what is only moved as numbers of a type, whatever they are, so many in a row.
func words[T float](ws *workspace, t *bench.Tensor) (all []T, width int) {
	all = as[T](ws.bytes(t))
	return all, len(all) * widthOf(t) / int(t.Elems())
}

// bindEmbedding copies rows of a table.
func bindEmbedding[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	table, n := words[T](ws, c[0].In[0])
	dst, _ := words[T](ws, c.Output())
	index := as[int32](ws.bytes(c[0].In[1]))
	gather := vecKernelsFor[T](ws.isa).gatherRows
	parts, most := partsOf(ws, len(index), 1), max(1, vecCall/n) // rows of a call
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			p := parts[w.id]
			for i := p.lo; i < p.hi; i += most {
				rows := min(most, p.hi-i)
				inCalls(n, func(lo, hi int) { gather(&dst[i*n+lo], &table[lo], &index[i], n, n, rows, hi-lo, p.hi-i, nt) })
			}
		}
	}), nil
}

// A permutation takes blocks of permuteRows rows along P and along Q. It reads in the order of memory, in runs along Q,
// and what it writes past the caches comes in whole lines: the other way about, a Zen 5 runs at half the speed from
// memory. Runs shorter than permuteRun bytes, or than permuteFarRun from beyond L2, are not worth a call each: then
// a call takes a run along P.
const (
	permuteRows   = 64
	permuteRun    = 2048
	permuteFarRun = 512
)

// bindPermute copies rows of D.
func bindPermute[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	src, _ := words[T](ws, c[0].In[0])
	dst, _ := words[T](ws, c.Output())
	s := c[0].Params.(bench.PermuteParams)
	p, q := int(s.P), int(s.Q)
	if p == 1 || q == 1 { // Nothing changes places. A copy has no type: see bind_half_move.go.
		return bindHalfCopy(ws, c)
	}
	d, size := len(dst)/(int(s.Outer)*p*q), int(unsafe.Sizeof(T(0)))
	move, side := vecKernelsFor[T](ws.isa).copy, max(permuteRows, 1024/d)
	high, wide := ceilDiv(p, side), ceilDiv(q, side)
	run := permuteRun
	if ws.beyondL2(len(src) * size) {
		run = permuteFarRun
	}
	parts := partsOf(ws, int(s.Outer)*high*wide, 1)
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			for b := parts[w.id].lo; b < parts[w.id].hi; b++ {
				outer, i, j := b/(high*wide)*p*q, b/wide%high*side, b%wide*side
				rows, cols := min(side, p-i), min(side, q-j)
				to, from := dst[(outer+j*p+i)*d:], src[(outer+i*q+j)*d:]
				inCalls(d, func(lo, hi int) {
					if cols*d*size >= run {
						for r := range rows {
							move(&to[r*d+lo], &from[r*q*d+lo], nil, p*d, d, 0, cols, hi-lo, 0, 0, nt)
						}
						return
					}
					for c := range cols {
						move(&to[c*p*d+lo], &from[c*d+lo], nil, d, q*d, 0, rows, hi-lo, 0, 0, nt)
					}
				})
			}
		}
	}), nil
}

// bindConcat copies the rows of both matrices, some of each in turn: few enough for L1.
func bindConcat[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, n := words[T](ws, c[0].In[0])
	z, k := words[T](ws, c[0].In[1])
	dst, _ := words[T](ws, c.Output())
	move := vecKernelsFor[T](ws.isa).copy
	parts, most := partsOf(ws, len(x)/n, 1), max(1, blockElems/(n+k))
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			p := parts[w.id]
			for i := p.lo; i < p.hi; i += most {
				rows, to := min(most, p.hi-i), dst[i*(n+k):]
				inCalls(n, func(lo, hi int) { move(&to[lo], &x[i*n+lo], nil, n+k, n, 0, rows, hi-lo, 0, 0, nt) })
				inCalls(k, func(lo, hi int) { move(&to[n+lo], &z[i*k+lo], nil, n+k, k, 0, rows, hi-lo, 0, 0, nt) })
			}
		}
	}), nil
}

// A transposition takes blocks of a matrix. Their rows are transposeRead bytes long, enough for
// memory to be read in order; their columns become runs of transposeWrite bytes of the result, two
// lines: with one at a time, the rate of writes to memory is half.
const (
	transposeRead  = 1024
	transposeWrite = 128
)

// transposeRows is the number of rows of a block. Rows that begin a multiple of crowdedStride bytes apart map to few sets
// of the caches. If rows of the result do, a block is up to eight squares high, so that it writes several lines of each at once:
// on Zen 5, 1024x1024 of fp32 in L3 at 53 GB/s with two lines, 85 with four; on Zen 4, 512x768 of fp64 at .48 of the
// bandwidth of copy with 32 rows, .69 with 64. If only rows of the matrix do, and the result, stored in the caches, has rows
// that are no multiple of half of that apart either, a block writes one line of each, and reads in order: a Zen 4 runs
// 64x1024 of fp32 in L2 at .65 so, .46 with two lines.
func transposeRows(m, n, size, square int, nt nontemporal) int {
	const (
		crowdedStride = 2048
		crowdedRows   = 64 // at most
		line          = 64
	)
	switch {
	case m*size%crowdedStride == 0:
		return min(crowdedRows, 8*square)
	case n*size%crowdedStride == 0 && m*size%(crowdedStride/2) != 0 && nt == cached:
		return line / size
	}
	return transposeWrite / size
}

// transposeParts are the workers' parts of a matrix. They divide its columns, which become rows: if they shared a row of the
// result, prefetching by one would take lines from the worker that writes the next part (two threads of a Zen 4 ran 96x640
// of fp32 in L2 at .65 of the bandwidth of copy so). If parts of a row would be long, that gains nothing, and undivided
// columns let memory be read in longer runs: then they divide the rows of the matrix, as they do if there are fewer columns of
// squares than workers.
func transposeParts(threads, m, n, size, high, square int) (rows, cols []span) {
	const longPart = 16 << 10 // bytes
	across := threads
	if m*size/threads >= longPart {
		across = 1
	}
	for threads%across != 0 || across > ceilDiv(n, square) {
		across--
	}
	rows, cols = make([]span, threads), make([]span, threads)
	for id := range threads {
		rows[id].lo, rows[id].hi = part(m, high, id/across, threads/across)
		cols[id].lo, cols[id].hi = part(n, square, id%across, across)
	}
	return rows, cols
}

func bindTranspose[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return inSquares(ws, c, data[T](ws, c[0].In[0]), data[T](ws, c.Output()), squareOf[T](ws.isa), vecKernelsFor[T](ws.isa).transpose)
}

// inSquares cuts a matrix into blocks, one row of blocks after the other, and transposes the squares of each while it
// prefetches the next block, unless everything is in L2. Squares that extend beyond the matrix are transposed in a
// buffer of the worker.
func inSquares[E inMemory](ws *workspace, c bench.Chain, src, dst []E, square int, transpose transposition[E]) (*kernel, error) {
	m, n := int(c[0].In[0].Dims[0]), int(c[0].In[0].Dims[1])
	size := int(unsafe.Sizeof(src[0]))
	wide := transposeRead / size
	rooms, err := blocksOf[float64](ws, ceilDiv(2*square*square*size, 8))
	if err != nil {
		return nil, err
	}
	edge := func(w *worker, i, j int) {
		room := as[E](asBytes(rooms[w.id]))
		in, out := room[:square*square], room[square*square:][:square*square]
		rows, cols := min(square, m-i), min(square, n-j)
		for r := range rows {
			copy(in[r*square:][:cols], src[(i+r)*n+j:])
		}
		transpose(&out[0], &in[0], nil, square, square, square, square, cached)
		for s := range cols {
			copy(dst[(j+s)*m+i:][:rows], out[s*square:])
		}
	}
	block := func(w *worker, i, j, height, width int, next *E, nt nontemporal) {
		wholeRows, wholeCols := height/square*square, width/square*square
		if wholeRows > 0 && wholeCols > 0 {
			transpose(&dst[j*m+i], &src[i*n+j], next, m, n, wholeRows, wholeCols, nt)
		}
		for y := 0; y < height; y += square {
			first := 0
			if y < wholeRows {
				first = wholeCols
			}
			for x := first; x < width; x += square {
				edge(w, i+y, j+x)
			}
		}
	}
	near := !ws.beyondL2(2 * m * n * size)
	body := func(nt nontemporal) func(w *worker) {
		high := transposeRows(m, n, size, square, nt)
		rows, cols := transposeParts(len(ws.workers), m, n, size, high, square)
		return func(w *worker) {
			r, c := rows[w.id], cols[w.id]
			for i := r.lo; i < r.hi; i += high {
				for j := c.lo; j < c.hi; j += wide {
					var next *E // the block that follows, if it is not in L2
					switch {
					case near:
					case j+wide < c.hi:
						next = &src[i*n+j+wide]
					case i+high < r.hi:
						next = &src[(i+high)*n+c.lo]
					}
					block(w, i, j, min(high, r.hi-i), min(wide, c.hi-j), next, nt)
				}
			}
		}
	}
	const line = 64
	if m*size%line != 0 { // rows of the result share lines
		return elementwise(ws, nameOf(ws, c), body(cached)), nil
	}
	return storing(ws, c, body), nil
}
