package cpu

import (
	"fmt"
	"math"
)

// attentionShape is the shape of O = softmax(Q K^T / sqrt(D)) V, contiguous:
// Q and O are [heads, sq, d], K and V are [heads/group, sk, d], the scores are
// [heads, sq, sk]. heads counts the batch in; as many as group follow each other and
// share K and V. With causal, query i sees the keys up to i + sk - sq.
type attentionShape struct {
	heads, sq, sk, d int
	group            int
	causal           bool
}

func (s attentionShape) check(workers int) error {
	switch {
	case s.heads <= 0 || s.sq <= 0 || s.sk <= 0 || s.d <= 0 || s.group <= 0 || workers <= 0:
		return fmt.Errorf("cpu: attention %+v with %d workers: want positive numbers", s, workers)
	case s.heads%s.group != 0:
		return fmt.Errorf("cpu: attention %+v: groups do not divide the heads", s)
	case s.causal && s.sq > s.sk:
		return fmt.Errorf("cpu: attention %+v: the first queries see no key", s)
	}
	return nil
}

// sharing merges the heads that share K and V into one head with the queries of all, so that
// K and V are read once; not with a causal mask, by which queries see different keys.
func (s attentionShape) sharing() attentionShape {
	if !s.causal {
		s.heads, s.sq, s.group = s.heads/s.group, s.sq*s.group, 1
	}
	return s
}

// seen is the number of keys that a query sees.
func (s attentionShape) seen(query int) int {
	if s.causal {
		return query + 1 + s.sk - s.sq
	}
	return s.sk
}

// shares divides the blocks of `rows` queries of all heads among workers so that the keys
// that each worker's blocks see add up to about the same: worker i gets blocks
// [shares[i], shares[i+1]).
func (s attentionShape) shares(workers, rows int) []int {
	blocks, total := ceilDiv(s.sq, rows), 0
	keys := func(i int) int { return s.seen(min((i%blocks+1)*rows, s.sq) - 1) }
	for i := range blocks {
		total += s.heads * keys(i)
	}
	shares, done := make([]int, 1, workers+1), 0
	for i := range s.heads * blocks {
		for len(shares) < workers && (2*done+keys(i))*workers >= 2*total*len(shares) {
			shares = append(shares, i)
		}
		done += keys(i)
	}
	for len(shares) <= workers {
		shares = append(shares, s.heads*blocks)
	}
	return shares
}

// attention is the plan of attention and of its parts, for one shape, element
// type and instruction set. Its methods bind tensors and give kernels of a team
// of the planned size; all of them may share one scratch memory as long as they
// run one after the other.
type attention[T float] struct {
	attentionShape
	scale   T
	isa     ISA
	caches  cacheSizes
	workers int
	vec     vecKernels[T]
	pack    gemm[T] // the micro-kernel and the packing that go with it
}

func newAttention[T float](isa ISA, caches cacheSizes, workers int, s attentionShape) (*attention[T], error) {
	if err := s.check(workers); err != nil {
		return nil, err
	}
	return &attention[T]{
		attentionShape: s.sharing(),
		scale:          T(1 / math.Sqrt(float64(s.d))),
		isa:            isa,
		caches:         cacheSizes{orElse(caches.L1, typicalCaches.L1), orElse(caches.L2, typicalCaches.L2), orElse(caches.L3, typicalCaches.L3)},
		workers:        workers,
		vec:            vecKernelsFor[T](isa),
		pack:           gemm[T]{gemmKernels: newGEMMKernels[T](isa)},
	}, nil
}

// scratchBytes is the size of the memory that every method wants.
func (a *attention[T]) scratchBytes() (int64, error) {
	qk, err := a.newBatch(a.sk, a.d)
	if err != nil {
		return 0, err
	}
	pv, err := a.newBatch(a.d, a.sk)
	if err != nil {
		return 0, err
	}
	rows, err := a.newScoreRows()
	if err != nil {
		return 0, err
	}
	each := max(qk.scratchBytes(), pv.scratchBytes(), rows.scratchBytes(),
		lengthBytes[T](a.streamLengths(a.newStream())...), lengthBytes[T](a.newCausal().lengths()...))
	return each * int64(a.workers), nil
}

// ofWorkers cuts scratch memory into one equal part a worker.
func (a *attention[T]) ofWorkers(mem []byte) ([][]byte, error) {
	want, err := a.scratchBytes()
	if err != nil {
		return nil, err
	}
	if int64(len(mem)) < want {
		return nil, fmt.Errorf("cpu: attention %+v: scratch of %d bytes, want %d", a.attentionShape, len(mem), want)
	}
	parts := make([][]byte, a.workers)
	each := int(want) / a.workers
	for i := range parts {
		parts[i] = mem[i*each:][:each:each]
	}
	return parts, nil
}
