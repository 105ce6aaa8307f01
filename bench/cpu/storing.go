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
// code.

// storesKey tells results apart: by the operations, and the tensor that they write.
type storesKey struct {
	operations string
	out        *bench.Tensor
}

// storing is a kernel whose result may be stored past the caches, if that is faster.
func storing(ws *workspace, c bench.Chain, body func(nt bool) func(w *worker)) *kernel {
	plain := elementwise(ws, c.String(), body(false))
	part := int(c.Output().Bytes(ws.dtype)) / len(ws.workers)
	if !canStorePast(ws.isa) || part <= orElse(ws.caches.L2, typicalCaches.L2) {
		return plain
	}
	past := body(true)
	k := &kernel{name: plain.name + "_nt", body: func(w *worker) {
		past(w)
		storeFence()
	}}
	key := storesKey{c.String(), c.Output()}
	chosen, known := ws.storesPast[key]
	if !known {
		chosen = faster(ws.team, k, plain)
		ws.storesPast[key] = chosen
	}
	if chosen {
		return k
	}
	return plain
}

// storeGain is by how much stores past the caches have to be faster, as they leave nothing
// for the next operation: one that reads the result, or the same one again. From memory they are
// by a quarter or more. Where it is a draw they made QK_T slower by 8%.
const storeGain = 1.1

// storeTries is how often each way is tried in each of some turns, of which the first try
// does not count: the caches hold what the other way left.
const (
	storeTries = 3
	storeTurns = 4
)

// faster says whether the best time of one kernel is below that of another by storeGain.
func faster(t *team, one, other *kernel) bool {
	var tries []sample
	for range storeTurns {
		for _, k := range []*kernel{one, other} {
			for range storeTries {
				tries = append(tries, sample{n: 1, bodies: []func(*worker){k.body}})
			}
		}
	}
	var least [2]time.Duration
	for i, took := range t.sample(tries) {
		side := &least[i/storeTries%2]
		if i%storeTries > 0 && (*side == 0 || took < *side) {
			*side = took
		}
	}
	return storeGain*float64(least[0]) < float64(least[1])
}
