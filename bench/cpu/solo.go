package cpu

import "time"

// Libraries have threads of their own, on the CPUs of the workers. Worker 0 calls them; the other
// workers sleep meanwhile, as those that spin at a barrier would keep their CPUs from the library.

// fallAsleep is how long it takes until threads that wait sleep: workers, or those of a
// library, which are told to spin no longer than some 0.1 ms.
const fallAsleep = 300 * time.Microsecond

// longSolo is the time of an execution from which on waking the library's threads is negligible: it is its own sample.
const longSolo = 100 * fallAsleep

// solo executes a sample on worker 0, and on the threads that it calls.
func (w *worker) solo(s *sample, at *stretch) {
	if w.id > 0 {
		<-w.team.wake
		return
	}
	defer func() {
		for range w.n - 1 {
			w.team.wake <- struct{}{}
		}
	}()
	w.still()
	once := func() {
		for _, body := range s.bodies {
			body(w)
		}
	}
	at.begin = now()
	if w.n > 1 && s.before == nil { // what has flushed the caches is not to be undone
		once() // which wakes the library's threads
		at.end = now()
	}
	if s.n > 1 || at.end.Sub(at.begin) < longSolo {
		at.begin = now()
		for range s.n {
			once()
		}
		at.end = now()
	}
	if s.after != nil {
		s.after()
	}
	w.still()
}

// still waits, awake, until all other threads sleep.
func (w *worker) still() {
	for begin := now(); w.n > 1 && now().Sub(begin) < fallAsleep; {
	}
}

// alone lets worker 0 do something while the others sleep.
func (t *team) alone(f func(w *worker)) {
	t.run(func(w *worker) {
		if w.id == 0 {
			f(w)
		}
	})
}

// on does something while the worker is bound to another CPU. Where it cannot be, it is where it was.
func (w *worker) on(cpu int, f func()) {
	_ = w.pin(cpu)
	defer func() { _ = w.pin(w.team.cpus[w.id]) }()
	f()
}
