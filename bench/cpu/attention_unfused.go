package cpu

// batch is a product of two matrices for each head. Where the heads do not divide
// evenly among the workers, the rows of a head are cut as well.
type batch[T float] struct {
	heads, parts int
	m, rows      int      // of a head; of a part, but for the last one
	whole, last  *gemm[T] // plans of a part
}

// newBatch plans m x n = (m x k)(k x n) for each head.
func newBatch[T float](isa ISA, caches cacheSizes, workers, heads, m, n, k int) (*batch[T], error) {
	b := &batch[T]{heads: heads, m: m}
	mr := newGEMMKernels[T](isa).mr
	cuts := workers / gcd(heads, workers)
	b.rows = min(ceilDiv(ceilDiv(m, cuts), mr)*mr, m)
	b.parts = ceilDiv(m, b.rows)
	var err error
	if b.whole, err = newGEMM[T](isa, caches, 1, b.rows, n, k); err != nil {
		return nil, err
	}
	if b.last = b.whole; b.parts*b.rows != m {
		b.last, err = newGEMM[T](isa, caches, 1, m-(b.parts-1)*b.rows, n, k)
	}
	return b, err
}

// newBatch plans sq x n = (sq x k)(k x n).
func (a *attention[T]) newBatch(n, k int) (*batch[T], error) {
	return newBatch[T](a.isa, a.caches, a.workers, a.heads, a.sq, n, k)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (b *batch[T]) scratchBytes() int64 {
	return lengthBytes[T](b.whole.packedALen()) + (max(b.whole.scratchBytes(), b.last.scratchBytes())+63)&^63
}

// kernel multiplies; operands gives the matrices of a head. Where left is given, it
// works on the packed left-hand side.
func (b *batch[T]) kernel(scratch [][]byte, operands func(head int) (x, y, c matrix[T]), left func(x []T)) (func(w *worker), error) {
	packed := make([][]T, len(scratch))
	wholes, lasts := make([]*gemmScratch[T], len(scratch)), make([]*gemmScratch[T], len(scratch))
	for i, mem := range scratch {
		length := b.whole.packedALen()
		packed[i] = as[T](mem)[:length]
		rest := mem[lengthBytes[T](length):]
		var err error
		if wholes[i], err = b.whole.newScratch(rest); err != nil {
			return nil, err
		}
		if lasts[i], err = b.last.newScratch(rest); err != nil {
			return nil, err
		}
	}
	// The views are made beforehand: to make them takes as long as to multiply 16x16.
	products := make([]product[T], 0, b.heads*b.parts)
	for head := range b.heads {
		x, y, c := operands(head)
		for part := range b.parts {
			plan := b.plan(part)
			products = append(products, product[T]{plain(x.rowsOf(part*b.rows, plan.m)), plain(y), c.rowsOf(part*b.rows, plan.m)})
		}
	}
	return func(w *worker) {
		lo, hi := w.share(len(products), 1)
		for i := lo; i < hi; i++ {
			p, plan, s := &products[i], b.whole, wholes[w.id]
			if b.last != b.whole && i%b.parts == b.parts-1 {
				plan, s = b.last, lasts[w.id]
			}
			if left == nil {
				plan.serial(s, &p.x, &p.y, &p.c, nil)
				continue
			}
			x := plan.prepackA(packed[w.id], p.x.matrix)
			left(x.packed)
			plan.serial(s, &x, &p.y, &p.c, nil)
		}
	}, nil
}

// product is one of a batch.
type product[T float] struct {
	x, y operand[T]
	c    matrix[T]
}

// plan of a part of the rows.
func (b *batch[T]) plan(part int) *gemm[T] {
	if part == b.parts-1 {
		return b.last
	}
	return b.whole
}

// head is the view of one head of a tensor [heads, rows, cols].
func head[T float](x []T, i, rows, cols int) matrix[T] {
	return matrix[T]{data: x[i*rows*cols:][:rows*cols], rows: rows, cols: cols, ld: cols}
}

func (m matrix[T]) transposed() matrix[T] {
	m.rows, m.cols, m.trans = m.cols, m.rows, !m.trans
	return m
}

// qkT is scores = Q K^T.
func (a *attention[T]) qkT(mem []byte, q, k, scores []T) (func(w *worker), error) {
	return a.scores(mem, q, k, scores, nil)
}

// qkTScale is scores = Q K^T / sqrt(D). The factor goes to the packed Q: an epilogue
// would have to read the tile again, and where rows are a multiple of 4 KiB apart
// a tile does not even fit into the few sets of L1 that it maps to.
func (a *attention[T]) qkTScale(mem []byte, q, k, scores []T) (func(w *worker), error) {
	return a.scores(mem, q, k, scores, func(x []T) { a.vec.scale.slice(x, x, nil, a.scale, 0) })
}

func (a *attention[T]) scores(mem []byte, q, k, scores []T, left func(x []T)) (func(w *worker), error) {
	b, err := a.newBatch(a.sk, a.d)
	if err != nil {
		return nil, err
	}
	scratch, err := a.ofWorkers(mem)
	if err != nil {
		return nil, err
	}
	return b.kernel(scratch, func(i int) (x, y, c matrix[T]) {
		return head(q, i, a.sq, a.d), head(k, i, a.sk, a.d).transposed(), head(scores, i, a.sq, a.sk)
	}, left)
}

// pv is O = P V.
func (a *attention[T]) pv(mem []byte, p, v, o []T) (func(w *worker), error) {
	b, err := a.newBatch(a.d, a.sk)
	if err != nil {
		return nil, err
	}
	scratch, err := a.ofWorkers(mem)
	if err != nil {
		return nil, err
	}
	return b.kernel(scratch, func(i int) (x, y, c matrix[T]) {
		return head(p, i, a.sq, a.sk), head(v, i, a.sk, a.d), head(o, i, a.sq, a.d)
	}, nil)
}
