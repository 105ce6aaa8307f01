package cpu

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"hwcal/bench"
)

// float is an element type that the kernels of this package compute in.
type float interface{ float32 | float64 }

// team is a fixed set of workers, each a goroutine locked to an operating
// system thread that is pinned to one CPU. Kernels are written in SPMD form: all
// workers of a team run the same function and split the work by their id.
type team struct {
	workers []*worker
	bar     barrier
	done    sync.WaitGroup
}

// worker is one member of a team.
type worker struct {
	id, n int // 0 <= id < n
	team  *team
	jobs  chan func(*worker)
	begin time.Time
	end   time.Time
	thread
}

// newTeam starts one worker on each of the CPUs.
func newTeam(cpus []int) (*team, error) {
	// A worker that spins keeps its P: each needs one, and so does whoever hands
	// out the work.
	if n := len(cpus) + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	t := &team{bar: barrier{n: int32(len(cpus))}}
	started := make(chan error)
	for id, cpu := range cpus {
		w := &worker{id: id, n: len(cpus), team: t, jobs: make(chan func(*worker))}
		t.workers = append(t.workers, w)
		go w.serve(cpu, started)
	}
	var failed error
	for range cpus {
		if err := <-started; err != nil {
			failed = err
		}
	}
	if failed != nil {
		t.close()
		return nil, failed
	}
	return t, nil
}

func (w *worker) serve(cpu int, started chan<- error) {
	// The thread is never unlocked: it ends with the goroutine, and its
	// affinity with it.
	runtime.LockOSThread()
	if err := w.thread.pin(cpu); err != nil {
		started <- fmt.Errorf("cpu: pin worker %d to CPU %d: %w", w.id, cpu, err)
	} else {
		started <- nil
	}
	for job := range w.jobs {
		job(w)
		w.team.done.Done()
	}
}

// run lets every worker execute f and returns when all have.
func (t *team) run(f func(w *worker)) {
	t.done.Add(len(t.workers))
	for _, w := range t.workers {
		w.jobs <- f
	}
	t.done.Wait()
}

// time executes the bodies in order, n times, and returns the time from the
// earliest start to the latest end.
func (t *team) time(n int, bodies ...func(w *worker)) time.Duration {
	return t.sample(n, false, bodies)
}

// sample is time, with a barrier after each body, as the next one reads what all
// workers have written, unless all is private to each worker.
func (t *team) sample(n int, private bool, bodies []func(w *worker)) time.Duration {
	t.run(func(w *worker) {
		w.barrier()
		w.begin = time.Now()
		for range n {
			for _, body := range bodies {
				body(w)
				if !private {
					w.barrier()
				}
			}
		}
		w.end = time.Now()
	})
	begin, end := t.workers[0].begin, t.workers[0].end
	for _, w := range t.workers[1:] {
		if w.begin.Before(begin) {
			begin = w.begin
		}
		if w.end.After(end) {
			end = w.end
		}
	}
	return end.Sub(begin)
}

// close ends the workers.
func (t *team) close() {
	for _, w := range t.workers {
		close(w.jobs)
	}
}

// barrier waits until all workers of the team have called it.
func (w *worker) barrier() { w.team.bar.wait() }

// share is the worker's contiguous part [lo, hi) of n items, cut at multiples of
// grain; the parts of all workers cover n exactly once.
func (w *worker) share(n, grain int) (lo, hi int) {
	l, h := bench.Part(int64(n), int64(grain), int64(w.id), int64(w.n))
	return int(l), int(h)
}

// barrier is a spinning barrier that can be used again at once.
type barrier struct {
	n       int32
	arrived atomic.Int32
	_       [60]byte // the counter and the flag live on lines of their own
	round   atomic.Uint32
}

// patience is the number of looks, some ten microseconds, after which a waiting
// worker offers its CPU: whoever it waits for may need it, where there are more
// threads than CPUs.
const patience = 1 << 14

func (b *barrier) wait() {
	if b.n == 1 {
		return
	}
	round := b.round.Load()
	if b.arrived.Add(1) == b.n {
		b.arrived.Store(0)
		b.round.Add(1)
		return
	}
	for spins := 1; b.round.Load() == round; spins++ {
		if spins%patience == 0 {
			yield()
		}
	}
}
