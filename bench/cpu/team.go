package cpu

import (
	"fmt"
	"runtime"
	"slices"
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
	cpus    []int
	classes []string // of the workers' cores
	bar     barrier
	done    sync.WaitGroup
	wake    chan struct{} // ends the sleep of a worker; see solo
}

// worker is one member of a team.
type worker struct {
	id, n int // 0 <= id < n
	team  *team
	jobs  chan func(*worker)
	thread
}

// newTeam starts one worker on each of the CPUs.
func newTeam(cpus []int) (*team, error) {
	// A worker that spins keeps its P: each needs one, and so does whoever hands
	// out the work.
	if n := len(cpus) + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	t := &team{cpus: cpus, classes: make([]string, len(cpus)), wake: make(chan struct{}), bar: barrier{n: int32(len(cpus)), patience: patience}}
	for i, cpu := range cpus {
		if slices.Contains(cpus[:i], cpu) {
			t.bar.patience = patienceShared
		}
	}
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
		w.do(job)
	}
}

// do executes a job. Where it panics, so do the other workers at their next barrier.
func (w *worker) do(job func(*worker)) {
	defer w.team.done.Done()
	defer func() {
		if r := recover(); r != nil {
			w.team.bar.crash.CompareAndSwap(nil, bench.Caught(r))
		}
	}()
	job(w)
}

// run lets every worker execute f and returns when all have. A panic of a worker continues in the caller.
func (t *team) run(f func(w *worker)) {
	t.done.Add(len(t.workers))
	for _, w := range t.workers {
		w.jobs <- f
	}
	t.done.Wait()
	if crash := t.bar.crash.Swap(nil); crash != nil {
		t.bar.arrived.Store(0)
		panic(crash)
	}
}

// sample is one measurement: the bodies in order, n times.
type sample struct {
	n      int
	bodies []func(w *worker)
	// private bodies touch only the worker's own data. Else a barrier follows each body, as
	// the next one reads what all workers have written.
	private bool
	alike   bool            // all workers do the same work: each class of cores counts for itself
	solo    bool            // worker 0 executes it alone, while the others sleep
	before  func(w *worker) // done untimed before the sample; nil for nothing
	after   func()          // done untimed by worker 0 after a solo sample; nil for nothing
}

// warm has the bodies executed once, untimed, before the sample. The library that it is compared with is executed once to
// wake its threads, see solo: so both find their operands in the caches.
func (s *sample) warm() {
	if s.solo || s.before != nil {
		return
	}
	bodies := s.bodies
	s.before = func(w *worker) {
		for _, body := range bodies {
			body(w)
			w.barrier()
		}
	}
}

// sample takes the samples in turn and returns the time of each, from the earliest
// start to the latest end, or of workers that are alike that of the mean rate of their classes.
func (t *team) sample(samples []sample) []time.Duration {
	taken := make([]stretch, len(samples)*len(t.workers))
	t.run(func(w *worker) {
		for i := range samples {
			s, at := &samples[i], &taken[i*w.n+w.id]
			if s.before != nil {
				s.before(w)
			}
			w.barrier()
			if s.solo {
				w.solo(s, at)
				continue
			}
			at.begin = now()
			for range s.n {
				for _, body := range s.bodies {
					body(w)
					if !s.private {
						w.barrier()
					}
				}
			}
			at.end = now()
		}
	})
	times := make([]time.Duration, len(samples))
	for i := range samples {
		at := taken[i*len(t.workers):][:len(t.workers)]
		if samples[i].solo {
			at = at[:1]
		}
		if samples[i].alike {
			times[i] = byClass(at, t.classes)
		} else {
			times[i] = whole(at)
		}
	}
	return times
}

// whole is the time from the earliest start to the latest end.
func whole(at []stretch) time.Duration {
	all := at[0]
	for _, s := range at {
		if s.begin.Before(all.begin) {
			all.begin = s.begin
		}
		if s.end.After(all.end) {
			all.end = s.end
		}
	}
	return all.end.Sub(all.begin)
}

// byClass is the time that each worker would take at their mean rate, where a class of cores works from the earliest start
// to the latest end of its workers: one that computes while another waits would count what they may have to share as
// its own. So would a class that begins when another has ended: then the whole time counts.
func byClass(at []stretch, classes []string) time.Duration {
	of := map[string][]stretch{}
	for i, s := range at {
		of[classes[i]] = append(of[classes[i]], s)
	}
	rates, last, first := 0.0, at[0].begin, at[0].end
	for _, s := range at {
		if s.begin.After(last) {
			last = s.begin
		}
		if s.end.Before(first) {
			first = s.end
		}
	}
	if last.After(first) {
		return whole(at)
	}
	for _, workers := range of {
		rates += float64(len(workers)) / whole(workers).Seconds()
	}
	return time.Duration(float64(len(at)) / rates * 1e9)
}

// stretch is when a worker was at work.
type stretch struct {
	begin, end time.Time
	_          [16]byte // a line for each, as workers write them at the same time
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
	n        int32
	patience int
	arrived  atomic.Int32
	_        [60]byte // the counter and the flag live on lines of their own
	round    atomic.Uint32
	_        [60]byte
	crash    atomic.Pointer[bench.Crash] // of a worker, which nobody needs to wait for
}

// patience is the number of polls after which a waiting worker yields its CPU, as the
// worker that it waits for may need it. Workers with a CPU each poll for some milliseconds
// first: another process that got the CPU would keep it for as long. Those that share one
// have patienceShared.
const (
	patience       = 1 << 20
	patienceShared = 1 << 14
)

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
	b.await(&b.round, round)
}

// await looks until another worker has changed the value.
func (b *barrier) await(v *atomic.Uint32, from uint32) {
	for looks := b.patience; v.Load() == from; looks-- {
		if looks == 0 {
			b.relent()
			looks = b.patience
		}
	}
}

// relent is what a worker does that has lost its patience: it panics if the one that it waits for has, and yields.
func (b *barrier) relent() {
	if crash := b.crash.Load(); crash != nil {
		panic(crash)
	}
	yield()
}
