package cpu

import (
	"fmt"
	"math"
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
// of 64 bytes are slower than those of 32), and software prefetching may beat the hardware's. So each family is tried
// there, without prefetching and with it, near (into L1) and far (into L2); the fastest kernel is taken, and named.
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
	var all []*streamRun
	for _, isa := range isas {
		for _, k := range streamKernels(isa) {
			if "stream_"+k.name == op.Name && (len(all) == 0 || isa != Portable) {
				all = append(all, newStreamRun(ws, op, isa, k))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no %s for %s: %w", op.Name, ws.isa, bench.ErrUnsupported)
	}
	best := all[0]
	if ws.beyondL2(int(n)*8) && len(all) > 1 {
		best = fastest(ws.team, all)
	}
	return &kernel{
		name:    best.implementation(),
		private: true,
		body:    func(w *worker) { best.part(w, 0, best.n) },
	}, nil
}

// Each kernel is tried on tryBytes of each worker's part, tryTurns times. Tries take turns, and each has the
// piece behind that of the last one: what was read before may have stayed in a cache.
const tryBytes, tryTurns = 32 << 20, 4

// fastest is the one with the least time.
func fastest(t *team, all []*streamRun) *streamRun {
	var tries []sample
	for i := range tryTurns * len(all) {
		s := all[i%len(all)]
		tries = append(tries, sample{n: 1, private: true, bodies: []func(*worker){
			func(w *worker) { s.part(w, i, tryBytes/8) },
		}})
	}
	best, least := all[0], time.Duration(math.MaxInt64)
	for i, took := range t.sample(tries) {
		if took < least {
			best, least = all[i%len(all)], took
		}
	}
	return best
}

// newStreamRun binds a kernel of one family.
func newStreamRun(ws *workspace, op bench.Op, isa ISA, k streamKernel) *streamRun {
	s := &streamRun{isa: isa, streamKernel: k, params: op.Params.(bench.StreamParams), out: data[float64](ws, op.Out)}
	s.n = len(s.out)
	for i, t := range op.In {
		s.in[i] = data[float64](ws, t)
		s.n = len(s.in[i])
	}
	return s
}

// streamRun is a bandwidth kernel bound to its arrays.
type streamRun struct {
	streamKernel
	isa    ISA
	params bench.StreamParams
	in     [2][]float64
	out    []float64
	n      int // elements of an array
}

// implementation names the kernel.
func (s *streamRun) implementation() string {
	name := fmt.Sprintf("stream_%s_%s", s.name, s.isa)
	if s.ahead != "" {
		name += "_" + s.ahead
	}
	return name
}

// part runs the kernel over piece number `piece` of `most` elements of the worker's part, counted modulo the number
// of pieces; over all of a part that is no longer. The written array comes first, as the kernels want it.
func (s *streamRun) part(w *worker, piece, most int) {
	lo, hi := w.share(s.n, bench.StreamGrain)
	if pieces := (hi - lo) / most; pieces > 1 {
		lo += piece % pieces * most
	}
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
