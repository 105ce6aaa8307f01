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
// right-hand side of the second product, so P is never moved. Nor are the keys with AVX2: see plainKeys.
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
		keys:   even(a.sk, max(fit, a.pack.mr), a.pack.mr),
		panels: ceilDiv(a.sq, a.pack.nr),
		d:      newPanels(a.d, a.pack.mr),
	}
}

// streamGroup is the number of panels of queries that share a pass over K and V, so
// that a head beyond L2 is read rarely.
const streamGroup = 8

// streamScratch is what one worker writes to.
type streamScratch[T float] struct {
	k, v           []T // packed as left-hand sides, block by block; no K that is taken as it is
	s              []T // a block of scores: keys x queries
	previous, step []T // the maxima before a block; exponents and factors
	q, acc         []T // of each panel: packed as the right-hand side; d x queries
	max, sum       []T // of each panel: by query so far
}

func (a *attention[T]) streamLengths(s *stream[T]) []int {
	nr, k := a.pack.nr, a.sk*a.d
	if a.plainKeys() {
		k = 0
	}
	return []int{k, a.sk * a.d, s.keys * nr, nr, nr,
		streamGroup * a.d * nr, streamGroup * a.d * nr, streamGroup * nr, streamGroup * nr}
}

// plainKeys says that the micro-kernel reads K unpacked. With 128 keys a Zen 3 takes 4 to 7% less time so, with more
// about the same; with AVX-512 it was not measured.
func (a *attention[T]) plainKeys() bool { return a.pack.tilePlain != nil && !a.pack.masked }

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
// width columns. Its last query has seen all keys that any of them sees.
type streamPanel[T float] struct {
	first, n, width int
	seen            int
	q, acc          []T
	max, sum        []T
}

// panel is panel i of a head, in place g of its group.
func (a *attention[T]) panel(buf *streamScratch[T], i, g int) streamPanel[T] {
	nr, first := a.pack.nr, i*a.pack.nr
	n := min(nr, a.sq-first)
	width := ceilDiv(n, a.pack.vl) * a.pack.vl
	return streamPanel[T]{first, n, width, a.seen(first + n - 1), buf.q[g*a.d*nr:], buf.acc[g*a.d*nr:][:a.d*width], buf.max[g*nr:][:width], buf.sum[g*nr:][:width]}
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
	shares := a.shares(a.workers, a.pack.nr)
	return func(w *worker) {
		item, end := shares[w.id], shares[w.id+1]
		buf := scratch[w.id]
		for packed := -1; item < end; {
			h, panel := item/s.panels, item%s.panels
			if kv := h / a.group; kv != packed {
				// Those that the last of the worker's panels of these heads sees.
				last := min(end, (kv+1)*a.group*s.panels) - 1
				seen := a.seen(a.sq - 1)
				if last/s.panels == h {
					seen = a.panel(buf, last%s.panels, 0).seen
				}
				a.packKV(s, buf, head(k, kv, a.sk, a.d), head(v, kv, a.sk, a.d), seen)
				packed = kv
			}
			count := min(streamGroup, s.panels-panel, end-item)
			a.streamPanels(s, buf, head(k, h/a.group, a.sk, a.d), head(q, h, a.sq, a.d), head(o, h, a.sq, a.d), panel, count)
			item += count
		}
	}, nil
}

// packKV packs the blocks of V of a head in which the first seen keys are, and of K where that is needed, as
// left-hand sides. V counts as transposed: a panel is some of its columns.
func (a *attention[T]) packKV(s *stream[T], buf *streamScratch[T], k, v matrix[T], seen int) {
	for at := 0; at < seen; at += s.keys {
		n := min(s.keys, a.sk-at)
		if !a.plainKeys() {
			ps := newPanels(n, a.pack.mr)
			a.pack.packA(buf.k[at*a.d:], k, at, 0, a.d, ps, 0, ps.n)
		}
		for i := range s.d.n {
			lo, hi := s.d.rows(i)
			to, from := buf.v[at*a.d+lo*n:][:n*(hi-lo)], v.data[at*v.ld+lo:][:(n-1)*v.ld+hi-lo]
			a.vec.copyColumns(&to[0], &from[0], v.ld, n, hi-lo)
		}
	}
}

// streamPanels computes the rows of O of count panels of queries.
func (a *attention[T]) streamPanels(s *stream[T], buf *streamScratch[T], k, q, o matrix[T], panel, count int) {
	for g := range count {
		p := a.panel(buf, panel+g, g)
		a.pack.packB(p.q, q.transposed(), 0, a.d, p.first, p.first+p.n)
		for j := range p.max {
			p.max[j], p.sum[j] = T(math.Inf(-1)), 0
		}
	}
	for at := 0; at < a.sk; at += s.keys {
		for g := range count {
			if p := a.panel(buf, panel+g, g); at < p.seen {
				a.streamBlock(s, buf, k, p, at, min(s.keys, a.sk-at))
			}
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

// streamBlock updates the online softmax and the accumulator of a panel of queries by those keys of a block that it sees.
func (a *attention[T]) streamBlock(s *stream[T], buf *streamScratch[T], k matrix[T], p streamPanel[T], at, keys int) {
	ps, seen := newPanels(keys, a.pack.mr), min(keys, p.seen-at)
	for i := range ps.n {
		lo, hi := ps.rows(i)
		if lo >= seen {
			break
		}
		to := &buf.s[lo*p.width]
		if a.plainKeys() {
			a.pack.tilePlain(hi-lo, p.width, a.d, &k.data[(at+lo)*k.ld], k.ld, &p.q[0], p.width, to, p.width, false)
		} else {
			a.pack.tile(hi-lo, p.width, a.d, &buf.k[(at+lo)*a.d], &p.q[0], to, p.width, false, to, nil)
		}
	}
	if a.causal {
		a.mask(p, buf.s, at, seen)
	}
	previous, step := buf.previous[:p.width], buf.step[:p.width]
	copy(previous, p.max)
	a.vec.colMax(&p.max[0], &buf.s[0], p.width, seen, p.width)
	if at > 0 {
		a.rescale(p, previous, step)
	}
	a.vec.scale.slice(step, p.max, nil, -a.scale, 0)
	a.vec.colExpSum(&buf.s[0], &buf.s[0], &step[0], &p.sum[0], p.width, seen, p.width, a.scale)
	packed := buf.v[at*a.d:]
	for i := range s.d.n {
		lo, hi := s.d.rows(i)
		a.pack.tile(hi-lo, p.width, seen, &packed[lo*keys], &buf.s[0], &p.acc[lo*p.width], p.width, at > 0, &p.acc[lo*p.width], nil)
	}
}

// mask takes out of the scores of the keys from at on what the queries of a panel do
// not see: of key at + i those before query i + hidden.
func (a *attention[T]) mask(p streamPanel[T], scores []T, at, keys int) {
	hidden := at + 1 - a.seen(p.first)
	for i := max(0, 1-hidden); i < keys; i++ {
		row := scores[i*p.width:][:i+hidden]
		for j := range row {
			row[j] = T(math.Inf(-1))
		}
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
