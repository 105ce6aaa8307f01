package cpu

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// A hypervisor moves virtual CPUs: two that shared a cache are on different sockets the next
// moment, and stay there for seconds or minutes. A barrier then costs four times as much, what one
// worker wrote reaches the other as much later, and each has a cache and a path to memory to
// itself. Pairs were seen to turn from 0.97 to 1.3 by that alone. No counter shows it; the time of
// a signal from worker to worker and back does.
const (
	signalTrips  = 100 // of one burst: 10 to 50 us
	signalBursts = 5
	// signalFar is the round trip, in that of when they were nearest, beyond which workers are
	// apart: on one such host it was 50 to 180 ns within a cache, and 360 to 450 beyond.
	signalFar = 3
)

// signals is the time of a signal from the first worker to each other and back, in seconds: the
// median of some bursts.
func (t *team) signals() []float64 {
	times := make([]float64, len(t.workers)-1)
	var line struct { // of its own
		_    [128]byte
		turn atomic.Uint32
		_    [128]byte
	}
	t.run(func(w *worker) {
		bursts := make([]float64, signalBursts)
		for i := range times {
			for burst := range bursts {
				w.barrier()
				line.turn.Store(0)
				w.barrier()
				begin := time.Now()
				for turn := uint32(0); turn < 2*signalTrips; turn += 2 {
					switch w.id {
					case 0:
						line.turn.Store(turn + 1)
						await(&line.turn, turn+1, t.bar.patience)
					case i + 1:
						await(&line.turn, turn, t.bar.patience)
						line.turn.Store(turn + 2)
					}
				}
				bursts[burst] = time.Since(begin).Seconds() / signalTrips
			}
			if w.id == 0 {
				slices.Sort(bursts)
				times[i] = bursts[signalBursts/2]
			}
		}
	})
	return times
}

// apart says which worker is further from the first one than it once was on the same place.
func (b *Backend) apart() (reason string) {
	nearest := b.nearest[b.place]
	if nearest == nil {
		nearest = slices.Repeat([]float64{math.Inf(1)}, len(b.team.workers)-1)
		b.nearest[b.place] = nearest
	}
	for i, t := range b.team.signals() {
		nearest[i] = min(nearest[i], t)
		if t > signalFar*nearest[i] && reason == "" {
			reason = fmt.Sprintf("a signal to worker %d and back takes %.0f ns, %.0f when it was nearest: the host moved it away", i+1, t*1e9, nearest[i]*1e9)
		}
	}
	return reason
}
