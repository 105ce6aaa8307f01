package cpu

import (
	"fmt"
	"slices"
	"time"

	"hwcal/bench"
	"hwcal/bench/ref"
)

func init() {
	for _, s := range bench.Streams {
		register("stream_"+s.Name, nil, bindStream)
	}
}

// bindStream lets each worker run the kernel over its own part of the arrays.
// Beyond L2 the widest vectors are not always the fastest (on some servers stores
// of 64 bytes are slower than those of 32), so each family is tried there and the
// best one is taken, and named.
func bindStream(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	isas, err := ISAs()
	if err != nil {
		return nil, err
	}
	n := op.Out.Elems()
	if len(op.In) > 0 {
		n = op.In[0].Elems()
	}
	if !ws.beyondL2(int(n) * 8) {
		isas = isas[:1]
	}
	var best *streamRun
	var least time.Duration
	for _, isa := range isas {
		s := newStreamRun(ws, op, isa)
		if s == nil || best != nil && isa == Portable {
			continue
		}
		var took time.Duration
		if len(isas) > 1 {
			took = s.try(ws.team)
		}
		if best == nil || took < least {
			best, least = s, took
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no %s for %s: %w", op.Name, ws.isa, bench.ErrUnsupported)
	}
	return &kernel{
		name:    fmt.Sprintf("%s_%s", op.Name, best.isa),
		private: true,
		body:    func(w *worker) { best.part(w, best.n) },
	}, nil
}

// tryBytes of each worker's part are enough to tell which family is faster.
const tryBytes = 32 << 20

// try is the better of two times over the beginning of each worker's part.
func (s *streamRun) try(t *team) time.Duration {
	body := func(w *worker) { s.part(w, tryBytes/8) }
	once := sample{n: 1, private: true, bodies: []func(*worker){body}}
	return slices.Min(t.sample([]sample{once, once}))
}

// newStreamRun is the kernel of one family, nil if it has none of the name.
func newStreamRun(ws *workspace, op bench.Op, isa ISA) *streamRun {
	all := streamKernels(isa)
	i := slices.IndexFunc(all, func(k streamKernel) bool { return "stream_"+k.name == op.Name })
	if i < 0 {
		return nil
	}
	s := &streamRun{isa: isa, run: all[i].run, params: op.Params.(bench.StreamParams), out: data[float64](ws, op.Out)}
	s.n = len(s.out)
	for i, t := range op.In {
		s.in[i] = data[float64](ws, t)
		s.n = len(s.in[i])
	}
	return s
}

// streamRun is a bandwidth kernel bound to its arrays.
type streamRun struct {
	isa    ISA
	run    func(reps int, a, b, c []float64, s float64) uint64
	params bench.StreamParams
	in     [2][]float64
	out    []float64
	n      int // elements of an array
}

// part runs the kernel over the worker's part, or the first `most` elements of it.
// The written array comes first, as the kernels want it.
func (s *streamRun) part(w *worker, most int) {
	lo, hi := w.share(s.n, bench.StreamGrain)
	hi = min(hi, lo+most)
	mine := func(a []float64) []float64 {
		if a == nil {
			return nil
		}
		return a[lo:hi]
	}
	passes := int(s.params.Passes)
	if s.params.Checksum {
		sum := s.run(passes, mine(s.in[0]), nil, nil, 0)
		s.out[w.id] = float64(sum & (1<<ref.ChecksumBits - 1))
		return
	}
	s.run(passes, mine(s.out), mine(s.in[0]), mine(s.in[1]), s.params.Scalar)
}
