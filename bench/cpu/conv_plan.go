package cpu

import (
	"fmt"
	"slices"
)

// convPlan is a plan of a convolution: conv or pixelMajor.
type convPlan[T float] interface {
	// weightsLen is the length that packWeights wants; it packs weights [K,C/groups,R,S]
	// into dst, once for many runs.
	weightsLen() int
	packWeights(dst, weights []T) []T
	// scratchBytes is the size of the memory, aligned to 64 bytes, that newScratch wants.
	scratchBytes() int64
	newScratch(mem []byte) (*convScratch[T], error)
	// run computes Y, whose channels are ld elements apart: P*Q, or more if Y is a part of
	// an image. All workers call it with the same arguments but their id. Each writes its
	// own part of Y, so there is no barrier inside; one must follow.
	run(id int, s *convScratch[T], x, weights, y []T, ld int, epi convEpilogue[T])
	// pixelParts is in how many parts the workers share the pixels. Those who have the same one share its filters.
	pixelParts() int
	// name is that of the kernel, and layout that of the packed weights.
	name() string
	layout() string
}

// nearGain is up to which pixelMajorGain, or down to its inverse, either plan may be the faster: the model was off by as much
// as 20% on a Zen 3, mostly in favour of pixelMajor.
const nearGain = 1.15

// newConvPlans are those of which the fastest is to be found by trial: one where the model is clear.
func newConvPlans[T float](u convUnit[T], caches cacheSizes, threads int, s convShape) ([]convPlan[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	gain := pixelMajorGain(s, u.gemmKernels, newBlocking(u.gemmKernels, caches).kc)
	var plans []convPlan[T]
	for _, pixels := range []bool{false, true} {
		if gain > nearGain && !pixels || gain < 1/nearGain && pixels {
			continue
		}
		v, err := convPlanOf(u, caches, threads, s, pixels)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(plans, func(p convPlan[T]) bool { return p.name() == v.name() }) {
			plans = append(plans, v)
		}
	}
	return plans, nil
}

// convPlanOf takes pixelMajor, if it fits.
func convPlanOf[T float](u convUnit[T], caches cacheSizes, threads int, s convShape, pixels bool) (convPlan[T], error) {
	v, err := newConv(u, caches, threads, s)
	if err != nil || !pixels {
		return v, err
	}
	if m := newPixelMajor(u, newBlocking(u.gemmKernels, caches), orElse(caches.L2, typicalCaches.L2), threads, s); m != nil {
		return m, nil
	}
	return v, nil
}

// newConvScratch lets a plan cut its scratch from what alloc gives.
func newConvScratch[T float](p convPlan[T], alloc func(bytes int64) ([]byte, error)) (*convScratch[T], error) {
	mem, err := alloc(p.scratchBytes())
	if err != nil {
		return nil, err
	}
	return p.newScratch(mem)
}

// filterBlocks names the layout of filters that are packed in blocks.
func filterBlocks(mc, kc int) string { return fmt.Sprintf("blocks of %d by %d", mc, kc) }
