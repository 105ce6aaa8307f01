package cpu

import "unsafe"

// scoreRows is the plan of P = softmax(Q K^T / sqrt(D)): blocks of rows are
// computed, and normalised before they leave L2. K is packed once a head.
type scoreRows[T float] struct {
	rows, blocks int      // of a block, but for the last one; of a head
	whole, last  *gemm[T] // plans of a block
}

func (a *attention[T]) newScoreRows() (*scoreRows[T], error) {
	fit := a.caches.L2 / 4 / (a.sk * int(unsafe.Sizeof(T(0)))) / a.pack.mr * a.pack.mr
	s := &scoreRows[T]{rows: clamp(fit, min(a.pack.mr, a.sq), a.sq)}
	s.blocks = ceilDiv(a.sq, s.rows)
	var err error
	if s.whole, err = newGEMM[T](a.isa, a.caches, 1, s.rows, a.sk, a.d); err != nil {
		return nil, err
	}
	s.last, err = newGEMM[T](a.isa, a.caches, 1, a.sq-(s.blocks-1)*s.rows, a.sk, a.d)
	return s, err
}

func (s *scoreRows[T]) scratchBytes() int64 {
	return lengthBytes[T](s.whole.packedBLen()) + max(s.whole.scratchBytes(), s.last.scratchBytes()) + 64
}

// qkTSoftmax is P = softmax(Q K^T / sqrt(D)); p is written once.
func (a *attention[T]) qkTSoftmax(mem []byte, q, k, p []T) (func(w *worker), error) {
	s, err := a.newScoreRows()
	if err != nil {
		return nil, err
	}
	scratch, err := a.ofWorkers(mem)
	if err != nil {
		return nil, err
	}
	packed := make([][]T, a.workers)
	wholes, lasts := make([]*gemmScratch[T], a.workers), make([]*gemmScratch[T], a.workers)
	for i, mem := range scratch {
		length := s.whole.packedBLen()
		packed[i] = as[T](mem)[:length]
		rest := mem[lengthBytes[T](length):]
		if wholes[i], err = s.whole.newScratch(rest); err != nil {
			return nil, err
		}
		if lasts[i], err = s.last.newScratch(rest); err != nil {
			return nil, err
		}
	}
	return func(w *worker) {
		lo, hi := w.share(a.heads*s.blocks, 1)
		var keys operand[T]
		packedHead := -1
		for item := lo; item < hi; item++ {
			h, block := item/s.blocks, item%s.blocks
			if h != packedHead {
				keys = s.whole.prepackB(packed[w.id], head(k, h, a.sk, a.d).transposed())
				packedHead = h
			}
			plan, gs := s.whole, wholes[w.id]
			if block == s.blocks-1 {
				plan, gs = s.last, lasts[w.id]
			}
			c := head(p, h, a.sq, a.sk).rowsOf(block*s.rows, plan.m)
			x := plain(head(q, h, a.sq, a.d).rowsOf(block*s.rows, plan.m))
			plan.serial(gs, &x, &keys, &c, nil)
			a.vec.softmax(c.data, c.ld, c.data, c.ld, nil, 0, plan.m, a.sk, a.scale)
		}
	}, nil
}
