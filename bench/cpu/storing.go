package cpu

import (
	"time"

	"hwcal/bench"
)

// A store to memory reads the line that it writes into the caches first. Stores past the
// caches ("non-temporal", nt) spare that, and lose where the result would have stayed in a
// cache. What a last level holds is known only to those who measure it: a virtual machine
// claims the host's. So where the result does not fit into L2 both ways are tried on the
// case itself, once: whoever binds the same operations to the same tensors again gets the same
// code, in other memory too. An operation of a chain is tried with a reader behind it, as its
// result is read: in L3 stores past the caches are a draw alone, and cost half of what follows.

// triedKey tells results apart: by the kernel family, the operations, and the tensor that they write.
type triedKey struct {
	isa        ISA
	operations string
	out        *bench.Tensor
}

// storing is a kernel whose result may be stored past the caches, if that is faster.
func storing(ws *workspace, c bench.Chain, body func(nt bool) func(w *worker)) *kernel {
	plain := elementwise(ws, nameOf(ws, c), body(false))
	if !hasFarKernels(ws.isa, ws.dtype) || !ws.beyondL2(int(c.Output().Bytes(ws.dtype))) {
		return plain
	}
	past := body(true)
	k := &kernel{name: plain.name + "_nt", body: func(w *worker) {
		past(w)
		storeFence()
	}}
	var then []func(w *worker)
	if ws.chained {
		then = append(then, readBack(ws, c.Output()))
	}
	return tried(ws, c, k, plain, then...)
}

// tried is the faster of two kernels of the same operations, each with what follows it.
func tried(ws *workspace, c bench.Chain, one, other *kernel, then ...func(w *worker)) *kernel {
	key := triedKey{ws.isa, c.String(), c.Output()}
	chosen, known := ws.memory.tried[key]
	if !known {
		chosen = faster(ws.team, one, other, then...)
		ws.memory.tried[key] = chosen
	}
	if chosen {
		return one
	}
	return other
}

// storeTries is how often each way is tried in each of some turns, of which the last try counts: at
// first the caches hold what the other way left.
const (
	storeTries = 5
	storeTurns = 4
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

// faster says whether the best time of a kernel is below that of another, each with what follows it.
func faster(t *team, one, other *kernel, then ...func(w *worker)) bool {
	var tries []sample
	for range storeTurns {
		for _, k := range []*kernel{one, other} {
			for range storeTries {
				tries = append(tries, sample{n: 1, bodies: append([]func(*worker){k.body}, then...)})
			}
		}
	}
	var least [2]time.Duration
	for i, took := range t.sample(tries) {
		side := &least[i/storeTries%2]
		if (i+1)%storeTries == 0 && (*side == 0 || took < *side) {
			*side = took
		}
	}
	return least[0] < least[1]
}
