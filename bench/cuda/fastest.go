package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"hwcal/bench"
)

// Libraries offer several algorithms for one problem, in an order that is a guess. As many are tried
// as fit into trialTime. Those that come near the fastest are timed again, in batches of
// trialBatch, in turn, so that a change of the clock meets all of them.
const (
	trialTime   = 300 * time.Millisecond
	trialBatch  = 300 * time.Microsecond
	trialRounds = 3
	trialMost   = 20  // executions of a batch
	trialNear   = 1.5 // times the shortest time of a single execution
)

// fastest executes the candidates and returns the index of the one that takes the least time. Candidates that
// fail are left out, unless the device is lost. If all fail, the error is the first that is not bench.ErrUnsupported,
// or else one that is.
func (ws *workspace) fastest(candidates []func() error) (int, error) {
	type trial struct {
		candidate int
		time      time.Duration
	}
	var trials []trial
	var spent time.Duration
	refused := fmt.Errorf("cuda: no algorithm: %w", bench.ErrUnsupported)
	for i, enqueue := range candidates {
		if spent > trialTime {
			break
		}
		err := enqueue() // what is loaded at the first execution is not timed
		var t time.Duration
		if err == nil {
			t, err = ws.timed(enqueue, 1)
		}
		switch {
		case err == nil:
			trials = append(trials, trial{i, t})
			spent += 2 * t
		case errors.Is(err, bench.ErrLost):
			return 0, err
		case isUnsupported(refused):
			refused = err
		}
	}
	if len(trials) == 0 {
		return 0, refused
	}
	byTime := func(a, b trial) int { return cmp.Compare(a.time, b.time) }
	shortest := slices.MinFunc(trials, byTime).time
	trials = slices.DeleteFunc(trials, func(t trial) bool { return float64(t.time) > trialNear*float64(shortest) })
	if len(trials) == 1 {
		return trials[0].candidate, nil
	}
	n := min(int(trialBatch/shortest)+1, trialMost)
	for round := range trialRounds {
		for i := range trials {
			t, err := ws.timed(candidates[trials[i].candidate], n)
			if err != nil {
				return 0, err
			}
			if round == 0 || t < trials[i].time {
				trials[i].time = t
			}
		}
	}
	return slices.MinFunc(trials, byTime).candidate, nil
}

// fastestOf kernels by trial, unless there is but one.
func (ws *workspace) fastestOf(kernels ...*kernel) (*kernel, error) {
	if len(kernels) == 1 {
		return kernels[0], nil
	}
	runs := make([]func() error, len(kernels))
	for i, k := range kernels {
		runs[i] = k.enqueue
	}
	best, err := ws.fastest(runs)
	if err != nil {
		return nil, err
	}
	return kernels[best], nil
}

// timed is the time of n executions with cold caches. The device has something else to do before, so that
// the host is ahead of it, within one Do, as for Samples.
func (ws *workspace) timed(enqueue func() error, n int) (t time.Duration, err error) {
	events, err := ws.backend.eventsFor(2)
	if err != nil {
		return 0, err
	}
	err = ws.context.Do(func() error {
		if err := ws.backend.flush(); err != nil {
			return err
		}
		if err := ws.backend.spin(leadNanoseconds); err != nil {
			return err
		}
		if err := ws.context.Record(events[0]); err != nil {
			return err
		}
		for range n {
			if err := enqueue(); err != nil {
				return err
			}
		}
		if err := ws.context.Record(events[1]); err != nil {
			return err
		}
		if err := ws.context.Synchronize(); err != nil {
			return err
		}
		t, err = ws.context.Elapsed(events[0], events[1])
		return err
	})
	return max(t, time.Nanosecond), err
}
