package cpu

import (
	"fmt"
	"slices"

	"hwcal/bench"
)

// A neighbour on the other hardware thread of a core takes up to a half of the
// instructions that the core can issue. The clock does not show it, and where the
// neighbour is another virtual machine nothing else does. Independent scalar
// operations do: they need many slots, and the units that multiply, but no wide vectors, which
// would lower the clock.
const (
	probeBursts = 9
	probeIters  = 12000 // of one burst: about 20 us
	probeLeast  = 0.85  // of the best rate seen; less than that tells a neighbour
	probeSeen   = 3     // how often a rate, or a better one, has to be seen for that
)

// issueRates is the rate at which each worker executes independent operations, in arbitrary units a clock cycle: the
// median of some bursts, all workers at once. The clock is measured by a chain of dependent instructions after each burst. The
// highest of these clocks counts: a neighbour slows some chains too, and a clock read too low makes the rate seem higher
// than that of any core. Without such a chain the rate is per second.
func (b *Backend) issueRates() []float64 {
	rates := make([]float64, len(b.team.workers))
	b.team.run(func(w *worker) {
		var f [12]float64
		var n [8]int
		bursts, clock := make([]float64, probeBursts), 0.0
		w.barrier()
		for i := range bursts {
			begin := now()
			independent(probeIters, &f, &n)
			bursts[i] = 1 / now().Sub(begin).Seconds()
			if len(clockChains) > 0 {
				clock = max(clock, clockChains[0].sample())
			}
		}
		slices.Sort(bursts)
		rates[w.id] = bursts[probeBursts/2]
		if clock > 0 {
			rates[w.id] /= clock
		}
	})
	return rates
}

// independent multiplies and adds in so many chains that the latency of one is half of the time that the
// units need for a step of all: if it were as long, any delay in a chain would leave gaps that the core cannot
// make up for (on Zen 4 a fifth of the time of many calls).
func independent(iters int, f *[12]float64, n *[8]int) {
	f0, f1, f2, f3, f4, f5 := f[0], f[1], f[2], f[3], f[4], f[5]
	f6, f7, f8, f9, fa, fb := f[6], f[7], f[8], f[9], f[10], f[11]
	n0, n1, n2, n3, n4, n5, n6, n7 := n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]
	for i := range iters {
		f0, f1, f2, f3, f4, f5 = f0*0.5, f1*0.5, f2*0.5, f3*0.5, f4*0.5, f5*0.5
		n0, n1, n2, n3 = n0+i, n1+i, n2+i, n3+i
		f6, f7, f8, f9, fa, fb = f6*0.5, f7*0.5, f8*0.5, f9*0.5, fa*0.5, fb*0.5
		n4, n5, n6, n7 = n4+i, n5+i, n6+i, n7+i
	}
	*f = [...]float64{f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fa, fb}
	*n = [...]int{n0, n1, n2, n3, n4, n5, n6, n7}
}

// core is the key by which rates of workers are compared. Where each logical CPU is said to be a core, all workers of a
// class share a key, however many run: two workers at half the rate that one had share a physical core, whatever the
// virtual machine says. Where cores have two logical CPUs, each worker is compared with itself on the same place.
type core struct {
	class  string
	place  bench.Place
	worker int
}

func (b *Backend) coreOf(worker int) core {
	if b.siblings {
		return core{place: b.place, worker: worker}
	}
	return core{class: b.team.classes[worker]}
}

// shared says which worker computes slower than such a core did before.
func (b *Backend) shared() []string {
	var reasons []string
	for i, rate := range b.issueRates() {
		best := b.bestRate(b.coreOf(i), rate)
		if rate < probeLeast*best && reasons == nil {
			reasons = []string{fmt.Sprintf("the core of worker %d executed %.0f%% of what it can: a neighbour shares it", i, 100*rate/best)}
		}
	}
	return reasons
}

// bestRate adds a rate to those of a core, and returns the highest that was reached probeSeen times; of fewer rates the
// lowest. A rate reached once may come from a clock read too low, and every later one would seem disturbed beside it.
func (b *Backend) bestRate(of core, rate float64) float64 {
	seen := append(b.rates[of], rate)
	slices.Sort(seen)
	b.rates[of] = seen[max(0, len(seen)-probeSeen):]
	return b.rates[of][0]
}
