package cpu

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

// A hypervisor moves virtual CPUs: two that shared a cache are on different sockets the next
// moment, and stay there for seconds or minutes. A barrier then costs four times as much, what one
// worker wrote reaches the other as much later, and each has a cache and a path to memory to
// itself. Pairs were seen to turn from 0.97 to 1.3 by that alone. No counter shows it; the time of
// a signal from worker to worker and back does.
const (
	signalTrips  = 100 // of one burst, with all workers together: 10 to 50 us
	signalLeast  = 10  // with one
	signalBursts = 5
	// signalFar is the ratio of a round trip to the shortest one seen, above which workers are
	// apart: on one such host trips took 50 to 180 ns within a cache, and 360 to 450 beyond.
	signalFar = 3
)

// turn is a counter on lines of its own, which two workers write in turn.
type turn struct {
	atomic.Uint32
	_ [124]byte
}

// signals is the time of a signal from the first worker to each other and back, in seconds: the
// median of some bursts.
func (t *team) signals() []float64 {
	times, turns := make([]float64, len(t.workers)-1), make([]turn, len(t.workers))
	trips := max(signalTrips/max(len(times), 1), signalLeast)
	t.run(func(w *worker) {
		w.barrier()
		if w.id > 0 {
			own := &turns[w.id].Uint32
			for at := range uint32(trips * signalBursts) {
				t.bar.await(own, 2*at)
				own.Store(2*at + 2)
			}
			return
		}
		var bursts [signalBursts]float64
		for i := range times {
			other, at := &turns[i+1].Uint32, uint32(0)
			for burst := range bursts {
				begin := now()
				for range trips {
					other.Store(at + 1)
					t.bar.await(other, at+1)
					at += 2
				}
				bursts[burst] = now().Sub(begin).Seconds() / float64(trips)
			}
			slices.Sort(bursts[:])
			times[i] = bursts[signalBursts/2]
		}
	})
	return times
}

// apart says which worker's signal takes signalFar times as long as its shortest one on the same place. learn updates the
// shortest times; not while workers share a core, between which signals are faster than they can be between two cores.
func (b *Backend) apart(learn bool) (reason string) {
	nearest := b.nearest[b.place]
	if nearest == nil {
		nearest = slices.Repeat([]float64{math.Inf(1)}, len(b.team.workers)-1)
		b.nearest[b.place] = nearest
	}
	for i, t := range b.team.signals() {
		if learn {
			nearest[i] = min(nearest[i], t)
		}
		if t > signalFar*nearest[i] && reason == "" {
			reason = fmt.Sprintf("a signal to worker %d and back takes %.0f ns, %.0f when it was nearest: the host moved it away", i+1, t*1e9, nearest[i]*1e9)
		}
	}
	return reason
}
