package cpu

import (
	"hwcal/bench"
	"hwcal/schema"
)

// Apart says whether the hypervisor has moved a worker further from the others than it was: see distance.go.
func (b *Backend) Apart(p bench.Place) bool {
	return b.enter(p) == nil && b.apart(false) != ""
}

// Watch observes, until the function that it returns is called: steal by the hypervisor, throttling, waits for
// a CPU, neighbours on the workers' cores, and workers moved apart. It learns their distances only without a neighbour.
func (b *Backend) Watch(p bench.Place) func() bench.Observation {
	if err := b.enter(p); err != nil {
		return func() bench.Observation { return bench.Observation{} }
	}
	shared := b.shared()
	apart := b.apart(shared == nil)
	before := b.reader.read()
	return func() bench.Observation {
		reasons := b.reader.read().since(before).disturbances()
		sharedAfter := b.shared()
		if sharedAfter != nil {
			shared = sharedAfter
		}
		reasons = append(reasons, shared...)
		after := b.apart(sharedAfter == nil)
		moved := (after == "") != (apart == "")
		if after != "" {
			apart = after
		}
		o := bench.Noise(reasons)
		o.Moved = moved
		if apart != "" {
			o.Disturbances = append(o.Disturbances, bench.Disturbance{Code: schema.WorkersApart, Reason: apart})
		}
		return o
	}
}
