package cpu

import (
	"fmt"
	"slices"
	"time"
)

// A neighbour on the other hardware thread of a core takes up to a half of the
// instructions that the core can issue. The clock does not show it, and where the
// neighbour is another virtual machine nothing else does. Independent scalar
// operations do: they need many slots and no wide vectors, which would lower the
// clock.
const (
	probeBursts = 9
	probeIters  = 8000 // of one burst: about 30 us
	probeLeast  = 0.85 // of the best rate seen; less than that tells a neighbour from a lower turbo clock
)

// issueRates is the rate at which each worker executes independent operations, in
// arbitrary units: the median of some bursts, all workers at once.
func (b *Backend) issueRates() []float64 {
	rates := make([]float64, len(b.team.workers))
	b.team.run(func(w *worker) {
		acc := make([]float64, 12)
		bursts := make([]float64, probeBursts)
		w.barrier()
		for i := range bursts {
			begin := time.Now()
			peakPortable(probeIters, acc)
			bursts[i] = 1 / time.Since(begin).Seconds()
		}
		slices.Sort(bursts)
		rates[w.id] = bursts[probeBursts/2]
	})
	return rates
}

// shared says which worker computes slower than it once did on the same place.
func (b *Backend) shared() []string {
	best := b.rates[b.place]
	if best == nil {
		best = make([]float64, len(b.team.workers))
		b.rates[b.place] = best
	}
	var reasons []string
	for i, rate := range b.issueRates() {
		best[i] = max(best[i], rate)
		if rate < probeLeast*best[i] && reasons == nil {
			reasons = []string{fmt.Sprintf("the core of worker %d executed %.0f%% of what it can: a neighbour shares it", i, 100*rate/best[i])}
		}
	}
	return reasons
}
