package cuda

import (
	"fmt"
	"slices"
	"time"

	"hwcal/bench"
)

// recorded is a run as a graph.
type recorded struct {
	kernels []bench.Kernel
	n       int
	graph   Graph
}

// leadNanoseconds is how long a spinning kernel keeps the device busy before the first run, while the host
// launches that run: its time would else include the launch.
const leadNanoseconds = 100_000

// Samples executes the runs in turn, with an event before and after each. The host queues runs ahead of
// the device, unless they are so short that it cannot keep up: then the time is that of launching.
// Everything happens within one Do: else each call of the driver would make the context current again,
// which takes longer than a launch.
func (ws *workspace) Samples(runs []bench.Run) (times []time.Duration, err error) {
	err = ws.context.Do(func() (err error) { times, err = ws.samples(runs); return err })
	return times, err
}

func (ws *workspace) samples(runs []bench.Run) ([]time.Duration, error) {
	events, err := ws.backend.eventsFor(2 * len(runs))
	if err != nil {
		return nil, err
	}
	play := make([]func() error, len(runs))
	for i, r := range runs {
		if play[i], err = ws.player(r); err != nil {
			return nil, err
		}
	}
	ws.changed()
	if err := ws.backend.spin(leadNanoseconds); err != nil {
		return nil, err
	}
	if err := ws.backend.lap("lap_begin"); err != nil {
		return nil, err
	}
	for i, r := range runs {
		if r.Cold {
			if err := ws.backend.flush(); err != nil {
				return nil, err
			}
		}
		if err := ws.context.Record(events[2*i]); err != nil {
			return nil, err
		}
		if err := play[i](); err != nil {
			return nil, err
		}
		if err := ws.context.Record(events[2*i+1]); err != nil {
			return nil, err
		}
	}
	if err := ws.backend.lap("lap_end"); err != nil {
		return nil, err
	}
	if err := ws.context.Synchronize(); err != nil {
		return nil, err
	}
	times := make([]time.Duration, len(runs))
	for i := range runs {
		if times[i], err = ws.context.Elapsed(events[2*i], events[2*i+1]); err != nil {
			return nil, err
		}
		times[i] = max(times[i], time.Nanosecond) // nothing to execute takes less than the clock tells
	}
	return times, nil
}

// player gives what adds a run to the stream: the launches of its kernels, or one of a graph of them.
func (ws *workspace) player(r bench.Run) (func() error, error) {
	launch := func() error {
		for range r.N {
			for _, k := range r.Kernels {
				own, ok := k.(*kernel)
				if !ok {
					return fmt.Errorf("cuda: kernel %s is of another backend", k.Implementation())
				}
				if err := own.enqueue(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if !ws.graph {
		return launch, nil
	}
	i := slices.IndexFunc(ws.graphs, func(o recorded) bool { return o.n == r.N && slices.Equal(o.kernels, r.Kernels) })
	if i < 0 {
		g, err := ws.context.Capture(launch)
		if err != nil {
			return nil, fmt.Errorf("cuda: graph of %d executions: %w", r.N, err)
		}
		i = len(ws.graphs)
		ws.graphs = append(ws.graphs, recorded{r.Kernels, r.N, g})
	}
	return func() error { return ws.context.Replay(ws.graphs[i].graph) }, nil
}
