package bench

import "time"

// Counters are those of energy whose sum a Meter tells.
type Counters struct {
	Names []string
	// Joules counted since some moment in the past; it only grows.
	Joules func() (float64, error)
	// Celsius is the temperature; 0 where it cannot be read.
	Celsius func() float64
	// Least is the shortest window whose energy the counters tell.
	Least time.Duration
	Now   func() time.Time
}

// Start begins a window.
func (c Counters) Start() Meter {
	m := &window{Counters: c, begin: c.Now()}
	m.last = m.begin
	var err error
	m.first, err = c.Joules()
	m.reading, m.failed = m.first, err != nil
	return m
}

// window is a Meter over counters.
type window struct {
	Counters
	begin, last    time.Time
	first, reading float64 // joules at begin and last
	parts          int
	maxWatts       float64
	failed         bool
}

// Tick reads the counters once in a while.
func (w *window) Tick() {
	if now := w.Now(); now.Sub(w.last) >= w.Least {
		w.read(now)
	}
}

func (w *window) read(now time.Time) {
	joules, err := w.Joules()
	if err != nil {
		w.failed = true
		return
	}
	if took := now.Sub(w.last); took >= w.Least {
		w.parts++
		w.maxWatts = max(w.maxWatts, (joules-w.reading)/took.Seconds())
	}
	w.reading, w.last = joules, now
}

// LeastWindow is Least.
func (w *window) LeastWindow() time.Duration { return w.Least }

// Stop ends the window.
func (w *window) Stop() (Energy, bool) {
	w.read(w.Now())
	e := Energy{Window: w.last.Sub(w.begin), Joules: w.reading - w.first, Meters: w.Names, Celsius: w.Celsius()}
	if w.failed || e.Window < w.Least {
		return e, false
	}
	if w.parts > 1 {
		e.MaxWatts = max(w.maxWatts, e.Joules/e.Window.Seconds())
	}
	return e, true
}
