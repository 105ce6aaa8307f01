package cpu

import (
	"fmt"
	"time"

	"hwcal/bench"
)

// A neighbour on the other hardware thread of a core takes up to a half of its units.
// The clock does not show it, and where the neighbour is another virtual machine
// nothing else does: but the rate of FMA does.
const (
	probeBursts = 40   // as a core takes up to 0.5 ms to get ready for wide vectors
	probeIters  = 5000 // of one burst: about 20 us
	probeLeast  = 0.9  // of the best rate seen, below which a core is shared
)

// fmaRates is the rate at which each worker computes in registers, in arbitrary
// units: that of its best burst, all workers at once.
func (b *Backend) fmaRates() []float64 {
	rates := make([]float64, len(b.team.workers))
	peak := peakKernelOf[float32](b.isa)
	b.team.run(func(w *worker) {
		acc := make([]float32, peak.accs)
		w.barrier()
		for range probeBursts {
			begin := time.Now()
			peak.run(probeIters, acc)
			rates[w.id] = max(rates[w.id], 1/time.Since(begin).Seconds())
		}
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
	for i, rate := range b.fmaRates() {
		best[i] = max(best[i], rate)
		if rate < probeLeast*best[i] && reasons == nil {
			reasons = []string{fmt.Sprintf("the core of worker %d did %.0f%% of the FMA that it can do: a neighbour shares it", i, 100*rate/best[i])}
		}
	}
	return reasons
}

// disturbances of the workers between two calls.
func (b *Backend) disturbances() func() bench.Noise {
	shared := b.shared()
	before := b.reader.read()
	return func() bench.Noise {
		reasons := b.reader.read().since(before).disturbances()
		if after := b.shared(); after != nil {
			shared = after
		}
		return bench.Noise{Reasons: append(reasons, shared...)}
	}
}
