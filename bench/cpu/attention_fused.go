package cpu

import (
	"math"
	"unsafe"
)

// stream is the plan of attention without scores in memory. A worker takes a panel
// of queries, as wide as a micro-panel of B, and walks over blocks of keys with
// an online softmax. Everything is transposed, keys down and queries across:
//
//	S = K Q^T         keys x queries, by the micro-kernel
//	P = e^(S - max)   in place; the maxima and sums of queries are vertical
//	A = A a + V^T P   d x queries, by the micro-kernel; a rescales to the new max
//	O = (A / sum)^T
//
// A row-major block of S that is as wide as a micro-panel is already packed as the
// right-hand side of the second product, so P is never moved.
type stream[T float] struct {
	keys   int // of a block
	panels int // of queries in a head
	d      panels
}

func (a *attention[T]) newStream() *stream[T] {
	// Long blocks update the accumulator rarely; the scores leave most of L2 to
	// the packed K and V.
	fit := a.caches.L2 / 16 / (a.pack.nr * int(unsafe.Sizeof(T(0)))) / a.pack.mr * a.pack.mr
	return &stream[T]{
		keys:   min(max(fit, a.pack.mr), a.sk),
		panels: ceilDiv(a.sq, a.pack.nr),
		d:      newPanels(a.d, a.pack.mr),
	}
}

// streamGroup is the number of panels of queries that share a pass over K and V, so
// that a head beyond L2 is read rarely.
const streamGroup = 8

// streamScratch is what one worker writes to.
type streamScratch[T float] struct {
	k, v           []T // packed as left-hand sides, block by block
	s              []T // a block of scores: keys x queries
	previous, step []T // the maxima before a block; exponents and factors
	q, acc         []T // of each panel: packed as the right-hand side; d x queries
	max, sum       []T // of each panel: by query so far
}

func (a *attention[T]) streamLengths(s *stream[T]) []int {
	nr := a.pack.nr
	return []int{a.sk * a.d, a.sk * a.d, s.keys * nr, nr, nr,
		streamGroup * a.d * nr, streamGroup * a.d * nr, streamGroup * nr, streamGroup * nr}
}

func (a *attention[T]) newStreamScratch(s *stream[T], mem []byte) *streamScratch[T] {
	c := cutter[T]{as[T](mem)}
	var parts [9][]T
	for i, n := range a.streamLengths(s) {
		parts[i] = c.cut(n)
	}
	return &streamScratch[T]{
		k: parts[0], v: parts[1], s: parts[2], previous: parts[3], step: parts[4],
		q: parts[5], acc: parts[6], max: parts[7], sum: parts[8],
	}
}

// streamPanel is a panel of queries on its way: n of them from the first on, in
// width columns.
type streamPanel[T float] struct {
	first, n, width int
	q, acc          []T
	max, sum        []T
}

// panel is panel i of a head, in place g of its group.
func (a *attention[T]) panel(buf *streamScratch[T], i, g int) streamPanel[T] {
	nr, first := a.pack.nr, i*a.pack.nr
	n := min(nr, a.sq-first)
	width := ceilDiv(n, a.pack.vl) * a.pack.vl
	return streamPanel[T]{first, n, width, buf.q[g*a.d*nr:], buf.acc[g*a.d*nr:][:a.d*width], buf.max[g*nr:][:width], buf.sum[g*nr:][:width]}
}

// full is O = softmax(Q K^T / sqrt(D)) V.
func (a *attention[T]) full(mem []byte, q, k, v, o []T) (func(w *worker), error) {
	s := a.newStream()
	parts, err := a.ofWorkers(mem)
	if err != nil {
		return nil, err
	}
	scratch := make([]*streamScratch[T], a.workers)
	for i := range scratch {
		scratch[i] = a.newStreamScratch(s, parts[i])
	}
	return func(w *worker) {
		item, end := w.share(a.heads*s.panels, 1)
		buf := scratch[w.id]
		for packed := -1; item < end; {
			h, panel := item/s.panels, item%s.panels
			if h != packed {
				a.packKV(s, buf, head(k, h, a.sk, a.d), head(v, h, a.sk, a.d))
				packed = h
			}
			count := min(streamGroup, s.panels-panel, end-item)
			a.streamPanels(s, buf, head(q, h, a.sq, a.d), head(o, h, a.sq, a.d), panel, count)
			item += count
		}
	}, nil
}

// packKV packs K and the transposed V of a head as left-hand sides.
func (a *attention[T]) packKV(s *stream[T], buf *streamScratch[T], k, v matrix[T]) {
	v = v.transposed()
	for at := 0; at < a.sk; at += s.keys {
		n := min(s.keys, a.sk-at)
		ps := newPanels(n, a.pack.mr)
		a.pack.packA(buf.k[at*a.d:], k, at, 0, a.d, ps, 0, ps.n)
		a.pack.packA(buf.v[at*a.d:], v, 0, at, n, s.d, 0, s.d.n)
	}
}

// streamPanels computes the rows of O of count panels of queries.
func (a *attention[T]) streamPanels(s *stream[T], buf *streamScratch[T], q, o matrix[T], panel, count int) {
	for g := range count {
		p := a.panel(buf, panel+g, g)
		a.pack.packB(p.q, q.transposed(), 0, a.d, p.first, p.first+p.n)
		for j := range p.max {
			p.max[j], p.sum[j] = T(math.Inf(-1)), 0
		}
	}
	for at := 0; at < a.sk; at += s.keys {
		for g := range count {
			a.streamBlock(s, buf, a.panel(buf, panel+g, g), at, min(s.keys, a.sk-at))
		}
	}
	for g := range count {
		p := a.panel(buf, panel+g, g)
		inverse := buf.step[:p.width]
		for j, v := range p.sum {
			inverse[j] = 1 / v
		}
		a.vec.mul.tile(p.acc, p.width, a.d, p.width, inverse, 0, 0)
		a.pack.transposed(o.data[p.first*o.ld:], o.ld, p.acc, p.width, a.d, p.n)
	}
}

// streamBlock takes a panel of queries past a block of keys.
func (a *attention[T]) streamBlock(s *stream[T], buf *streamScratch[T], p streamPanel[T], at, keys int) {
	packed, ps := buf.k[at*a.d:], newPanels(keys, a.pack.mr)
	for i := range ps.n {
		lo, hi := ps.rows(i)
		a.pack.tile(hi-lo, p.width, a.d, &packed[lo*a.d], &p.q[0], &buf.s[lo*p.width], p.width, false, &buf.s[lo*p.width], nil)
	}
	previous, step := buf.previous[:p.width], buf.step[:p.width]
	copy(previous, p.max)
	a.vec.colMax(&p.max[0], &buf.s[0], p.width, keys, p.width)
	if at > 0 {
		a.rescale(p, previous, step)
	}
	for j, m := range p.max {
		step[j] = -m * a.scale
	}
	a.vec.colExpSum(&buf.s[0], &buf.s[0], &step[0], &p.sum[0], p.width, keys, p.width, a.scale)
	packed = buf.v[at*a.d:]
	for i := range s.d.n {
		lo, hi := s.d.rows(i)
		a.pack.tile(hi-lo, p.width, keys, &packed[lo*keys], &buf.s[0], &p.acc[lo*p.width], p.width, at > 0, &p.acc[lo*p.width], nil)
	}
}

// rescale brings the accumulator and the sums to the new maxima.
func (a *attention[T]) rescale(p streamPanel[T], previous, step []T) {
	moved := false
	for j, m := range p.max {
		step[j] = (previous[j] - m) * a.scale
		moved = moved || step[j] != 0
	}
	if !moved {
		return
	}
	a.vec.exp.slice(step, step, nil, 0, 0)
	a.vec.mul.slice(p.sum, p.sum, step, 0, 0)
	a.vec.mul.tile(p.acc, p.width, a.d, p.width, step, 0, 0)
}
