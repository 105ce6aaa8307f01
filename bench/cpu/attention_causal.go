package cpu

import "unsafe"

// causal is the plan of the operations of causal attention one by one. They work on
// the tiles in which something is seen, and so do about half of what they would
// without a mask, as the fused kernel does.
type causal[T float] struct {
	*attention[T]
	rows   panels // of queries of a head
	keys   int    // of a packed block of K or V
	most   int    // panels that go through the keys together
	shares []int  // of the panels of all heads
}

func (a *attention[T]) newCausal() *causal[T] {
	b := newBlocking(a.pack.gemmKernels, a.caches)
	fit := max(b.kc*b.nc/a.d/a.pack.nr*a.pack.nr, a.pack.nr)
	return &causal[T]{
		attention: a,
		rows:      newPanels(a.sq, a.pack.mr),
		keys:      even(a.sk, min(b.kc, fit), a.pack.nr),
		most:      a.group * ceilDiv(a.sq, a.pack.mr),
		shares:    a.attentionShape.shares(a.workers, a.pack.mr),
	}
}

// causalScratch is what one worker writes to.
type causalScratch[T float] struct {
	a, b []T // a packed panel of Q or P, a packed block of K or V
	edge []T
}

func (c *causal[T]) lengths() []int {
	mr, nr := c.pack.mr, c.pack.nr
	return []int{mr * max(c.keys, c.d), max(c.keys*ceilDiv(c.d, nr), c.d*ceilDiv(c.keys, nr)) * nr, mr * nr}
}

func (c *causal[T]) newScratch(mem []byte) ([]causalScratch[T], error) {
	parts, err := c.ofWorkers(mem)
	if err != nil {
		return nil, err
	}
	scratch, l := make([]causalScratch[T], c.workers), c.lengths()
	for i := range scratch {
		cut := cutter[T]{as[T](parts[i])}
		scratch[i] = causalScratch[T]{cut.cut(l[0]), cut.cut(l[1]), cut.cut(l[2])}
	}
	return scratch, nil
}

// blocks calls f for each panel of rows of the worker and each block of keys of which
// the last row of the panel sees some: as many as n. fresh says that the block is not
// the one of the call before.
func (c *causal[T]) blocks(w *worker, f func(head, panel, key, n int, fresh bool)) {
	item, end := c.shares[w.id], c.shares[w.id+1]
	for item < end {
		// The heads that share K and V go through them together.
		next := min(end, (item/(c.rows.n*c.group)+1)*c.rows.n*c.group, item+c.most)
		for key := 0; key < c.sk; key += c.keys {
			fresh := true
			for i := item; i < next; i++ {
				_, last := c.rows.rows(i % c.rows.n)
				if n := min(c.keys, c.seen(last-1)-key); n > 0 {
					f(i/c.rows.n, i%c.rows.n, key, n, fresh)
					fresh = false
				}
			}
		}
		item = next
	}
}

// qkT is what is seen of scores = Q K^T.
func (c *causal[T]) qkT(mem []byte, q, k, scores []T) (func(w *worker), error) {
	scratch, err := c.newScratch(mem)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		s := &scratch[w.id]
		c.blocks(w, func(h, panel, key, n int, fresh bool) {
			width := min(c.keys, c.sk-key)
			if fresh {
				c.pack.packB(s.b, head(k, h/c.group, c.sk, c.d).transposed(), 0, c.d, key, key+width)
			}
			lo, _ := c.rows.rows(panel)
			c.pack.packPanels(s.a, head(q, h, c.sq, c.d), 0, 0, c.d, c.rows, lo, panel, panel+1)
			// Whole tiles, as the block is packed in.
			n = min(ceilDiv(n, c.pack.nr)*c.pack.nr, width)
			c.pack.rowOfTiles(&block[T]{blockB: blockB{kc: c.d, jc: key, cols: n}, panels: c.rows, last: panel, base: lo},
				panel, s.a, s.b, head(scores, h, c.sq, c.sk), s.edge)
		})
	}, nil
}

// pv is O = P V. What is not seen of P is taken for 0.
func (c *causal[T]) pv(mem []byte, p, v, o []T) (func(w *worker), error) {
	scratch, err := c.newScratch(mem)
	if err != nil {
		return nil, err
	}
	nr := c.pack.nr
	return func(w *worker) {
		s := &scratch[w.id]
		c.blocks(w, func(h, panel, key, n int, fresh bool) {
			height := min(c.keys, c.sk-key)
			if fresh {
				c.pack.packB(s.b, head(v, h/c.group, c.sk, c.d), key, height, 0, c.d)
			}
			lo, hi := c.rows.rows(panel)
			c.pack.packPanels(s.a, head(p, h, c.sq, c.sk), 0, key, n, c.rows, lo, panel, panel+1)
			for row := lo; row < hi; row++ {
				for j := max(c.seen(row)-key, 0); j < n; j++ {
					s.a[j*(hi-lo)+row-lo] = 0
				}
			}
			for j := 0; j < c.d; j += nr {
				c.pack.rowOfTiles(&block[T]{blockB: blockB{kc: n, jc: j, cols: min(nr, c.d-j)}, add: key > 0, panels: c.rows, last: panel, base: lo},
					panel, s.a, s.b[j*height:], head(o, h, c.sq, c.d), s.edge)
			}
		})
	}, nil
}

// eachPanel calls f for the worker's rows of scores of type E, as few as suit one assembly call: m rows from element `at`
// on, of which the first sees `seen` keys and each other one more than the row before; n is the length of the last, rounded
// up to whole cache lines. (A line that is stored to in part has to be read first, and later stores wait for it: with rows in
// memory that took longer than the rows themselves.)
func eachPanel[E inMemory, T float](c *causal[T], w *worker, f func(at, m, seen, n int)) {
	line := 64 / int(unsafe.Sizeof(E(0)))
	for i := c.shares[w.id]; i < c.shares[w.id+1]; i++ {
		lo, hi := c.rows.rows(i % c.rows.n)
		first := i / c.rows.n * c.sq
		for each := max(1, vecCall/c.seen(hi-1)); lo < hi; lo += each {
			m := min(each, hi-lo)
			f((first+lo)*c.sk, m, c.seen(lo), min(ceilDiv(c.seen(lo+m-1), line)*line, c.sk))
		}
	}
}
