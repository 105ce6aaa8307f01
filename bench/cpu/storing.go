package cpu

import (
	"time"

	"hwcal/bench"
)

// A store to memory reads the line that it writes into the caches first. Stores past the
// caches ("non-temporal", nt) spare that, and lose where the result would have stayed in a
// cache. What a last level holds is known only to those who measure it: a virtual machine
// claims the host's. So where the result does not fit into L2 both ways are tried on the
// case itself.

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
	if k.best(ws.team) < plain.best(ws.team) {
		return k
	}
	return plain
}

// storeTries is how often each way is tried, after a first time that does not count.
const storeTries = 3

// best is the least of some times.
func (k *kernel) best(t *team) time.Duration {
	var least time.Duration
	for i := range 1 + storeTries {
		took := t.time(1, k.body)
		if i == 1 || i > 1 && took < least {
			least = took
		}
	}
	return least
}
