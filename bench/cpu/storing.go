package cpu

import (
	"math"
	"slices"
	"time"

	"hwcal/bench"
)

// A store to memory reads the line that it writes into the caches first. Stores past the
// caches ("non-temporal", nt) spare that, and lose where the result would have stayed in a
// cache. What a last level holds is known only to those who measure it: a virtual machine
// claims the host's. So where the result does not fit into L2 the ways are tried on the
// case itself, once: whoever binds the same operations to the same tensors again gets the same
// code, in other memory too. An operation of a chain is tried with a reader behind it, as its
// result is read: in L3 stores past the caches are a draw alone, and cost half of what follows.

// nontemporal says how a kernel passes the caches.
type nontemporal uint8

const (
	cached     nontemporal = iota // not at all
	pastCaches                    // results are stored past them
	farAhead                      // and what is read is fetched far ahead: see loops in asm/vec
)

// suffix of the name of a kernel.
func (nt nontemporal) suffix() string { return [...]string{"", "_nt", "_nt_far"}[nt] }

// triedKey tells what was tried apart: by the kernel family, the operations, and the tensor that they write, or of
// weights that which they read.
type triedKey struct {
	isa        ISA
	operations string
	tensor     *bench.Tensor
}

// storing is a kernel whose result may be stored past the caches, if that is faster.
func storing(ws *workspace, c bench.Chain, body func(nt nontemporal) func(w *worker)) *kernel {
	return storingIn(ws, c, body, pastCaches)
}

// storingFar is one that may fetch far ahead, too.
func storingFar(ws *workspace, c bench.Chain, body func(nt nontemporal) func(w *worker)) *kernel {
	return storingIn(ws, c, body, pastCaches, farAhead)
}

func storingIn(ws *workspace, c bench.Chain, body func(nt nontemporal) func(w *worker), ways ...nontemporal) *kernel {
	all := []*kernel{elementwise(ws, nameOf(ws, c), body(cached))}
	if !hasFarKernels(ws.isa, ws.dtype) || !ws.beyondL2(int(c.Output().Bytes(ws.dtype))) {
		return all[0]
	}
	for _, nt := range ways {
		f := body(nt)
		all = append(all, &kernel{name: all[0].name + nt.suffix(), body: func(w *worker) {
			f(w)
			storeFence()
		}})
	}
	var then []func(w *worker)
	if ws.chained {
		then = append(then, readBack(ws, c.Output()))
	}
	return tried(ws, c, all, then...)
}

// tried is the fastest of some kernels of the same operations, each with what follows it.
func tried(ws *workspace, c bench.Chain, all []*kernel, then ...func(w *worker)) *kernel {
	return all[triedOnce(ws, triedKey{ws.isa, c.String(), c.Output()}, all, then...)]
}

// triedConv is the fastest of some kernels of a convolution, whatever follows it: both sides of a pair have the same plan,
// or a trial that a neighbour disturbed would be their difference.
func triedConv(ws *workspace, c bench.Chain, all []*kernel) *kernel {
	return all[triedOnce(ws, triedKey{ws.isa, c[0].Name, c[0].In[1]}, all)]
}

// triedOnce is the index of the fastest.
func triedOnce(ws *workspace, key triedKey, all []*kernel, then ...func(w *worker)) int {
	chosen, known := ws.memory.tried[key]
	if !known {
		chosen = fastestOf(ws.team, all, then...)
		ws.memory.tried[key] = chosen
	}
	return chosen
}

// The ways take storeTurns turns, of storeTries tries each. The first storeFirst tries of a turn do not count, as the
// caches still hold what the other way left. What takes longTry or more has fewer: a single try replaces what the caches
// hold, and many would take longer than the measurement itself.
const (
	storeTries, storeFirst, storeTurns = 5, 2, 4
	longTries, longFirst, longTurns    = 2, 1, 3
	longTry                            = 4 * time.Millisecond
)

// readBack reads a result, as the operation behind it does.
func readBack(ws *workspace, t *bench.Tensor) func(w *worker) {
	all, sum := as[float32](ws.bytes(t)), vecKernelsFor[float32](ws.isa).rowSums
	return func(w *worker) {
		first, last := w.share(len(all), lineElems)
		inCalls(last-first, func(lo, hi int) {
			var unused float32
			sum(&unused, &all[first+lo], hi-lo, 1, hi-lo)
		})
	}
}

// fastestOf is the index of the kernel with the best time, each with what follows it.
func fastestOf(t *team, all []*kernel, then ...func(w *worker)) int {
	try := func(k *kernel) sample {
		return sample{n: 1, bodies: append([]func(*worker){k.body}, then...)}
	}
	each, first, turns := storeTries, storeFirst, storeTurns
	if t.sample(slices.Repeat([]sample{try(all[0])}, 2))[1] >= longTry { // the first one touches new pages
		each, first, turns = longTries, longFirst, longTurns
	}
	var tries []sample
	for range turns {
		for _, k := range all {
			tries = append(tries, slices.Repeat([]sample{try(k)}, each)...)
		}
	}
	best, least := 0, time.Duration(math.MaxInt64)
	for i, took := range t.sample(tries) {
		if i%each >= first && took < least {
			best, least = i/each%len(all), took
		}
	}
	return best
}
