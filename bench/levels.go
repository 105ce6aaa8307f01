package bench

import (
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// levels is what is known of the memory hierarchy: the caches as claimed, and
// where the curve of bandwidth over working set becomes flat.
type levels struct {
	caches []cacheLevel
	outer  schema.Level // behind them: DRAM or HBM
	// flatFrom is the working set from which on the curve is flat: DRAM. 0 as
	// long as no curve has shown it.
	flatFrom int64
	flatGBps float64 // bandwidth of the flat part, one thread, read
}

// cacheLevel is one level of data cache.
type cacheLevel struct {
	name   schema.Level
	size   int64 // bytes of one cache
	caches int   // of this level in the machine
	cores  int   // of the machine
}

var cacheNames = []schema.Level{schema.L1, schema.L2, schema.L3, schema.L4}

// claimedLevels takes the data caches from the description of a CPU, innermost
// first; of several classes of cores the smallest cache counts.
func claimedLevels(cpu schema.CPUInfo) levels {
	l := levels{outer: schema.DRAM}
	for i, name := range cacheNames {
		found := cacheLevel{name: name, cores: cpu.Cores}
		for _, c := range cpu.Caches {
			if c.Level == i+1 && c.Type != "instruction" {
				found.caches += c.Count
				if found.size == 0 || c.SizeBytes < found.size {
					found.size = c.SizeBytes
				}
			}
		}
		if found.size > 0 {
			l.caches = append(l.caches, found)
		}
	}
	return l
}

// hbmBits is the least width of a memory bus that is one of HBM: a stack has 1024 bits, and
// no board of other memory has as many.
const hbmBits = 1024

// deviceLevels are those of a GPU: the L2 that all its processors share, and its memory.
func deviceLevels(gpu schema.GPUInfo) levels {
	l := levels{outer: schema.DRAM}
	if gpu.MemoryBusBits >= hbmBits {
		l.outer = schema.HBM
	}
	if gpu.L2Bytes > 0 {
		l.caches = []cacheLevel{{name: schema.L2, size: gpu.L2Bytes}}
	}
	return l
}

// curvePoint is the read bandwidth of one thread over a working set.
type curvePoint struct {
	bytes int64
	gbps  float64
}

// flatTolerance is how far the points of two doublings may lie apart to be flat.
const flatTolerance = 0.03

// flat says whether the last points of a curve, in steps of at most sqrt 2, span
// two doublings and lie within the tolerance of each other.
func flat(curve []curvePoint) bool {
	n := len(curve)
	low, high := math.Inf(1), 0.0
	for i := n - 1; i >= 0; i-- {
		low, high = min(low, curve[i].gbps), max(high, curve[i].gbps)
		if high > low*(1+flatTolerance) {
			return false
		}
		if curve[i].bytes*4 <= curve[n-1].bytes {
			return true
		}
	}
	return false
}

// learn reads the DRAM plateau off a finished curve: the best of its last doubling, as neighbours only ever
// take away, and where, coming from there, the curve leaves it. Points that they held down are on it too.
func (l *levels) learn(curve []curvePoint) {
	last := curve[len(curve)-1].bytes
	l.flatGBps = 0
	for _, p := range curve {
		if p.bytes*2 >= last {
			l.flatGBps = max(l.flatGBps, p.gbps)
		}
	}
	l.flatFrom = last
	for i := len(curve) - 1; i >= 0 && curve[i].gbps <= l.flatGBps*(1+2*flatTolerance); i-- {
		l.flatFrom = curve[i].bytes
	}
}

// unclaimed is the largest working set that is read much faster than DRAM although
// it is much larger than every cache that is claimed; 0 if there is none.
func (l *levels) unclaimed(curve []curvePoint) int64 {
	largest := int64(0)
	for _, c := range l.caches {
		largest = max(largest, c.size)
	}
	for _, p := range slices.Backward(curve) {
		switch {
		case p.bytes < 4*largest:
			return 0
		case p.gbps > 1.5*l.flatGBps:
			return p.bytes
		}
	}
	return 0
}

// of says in which level a working set lives that threads share evenly.
func (l levels) of(bytes int64, threads int) schema.Level {
	flat := l.flatOn(threads)
	for _, c := range l.caches {
		if bytes <= c.capacity(threads) && (flat == 0 || bytes < flat || bytes <= l.caches[0].size || l.each(c)) {
			return c.name
		}
	}
	return l.outer
}

// flatOn is the working set from which on so many threads read from DRAM: that of one thread (flatFrom), scaled by the
// capacity of the last-level caches that they fill, if its curve is consistent with one such cache: flat from one to three
// times its size on. A virtual machine may claim one for each of its cores.
func (l levels) flatOn(threads int) int64 {
	if len(l.caches) == 0 {
		return l.flatFrom
	}
	last := l.caches[len(l.caches)-1]
	if l.flatFrom < last.size || l.flatFrom > 3*last.size {
		return l.flatFrom
	}
	return int64(float64(l.flatFrom) * float64(last.capacity(threads)) / float64(last.capacity(min(threads, 1))))
}

// each says that a cache can be counted once for every core, or group of cores: one thread was seen to fill it, and
// it is not the last level, which is what a virtual machine claims without having it.
func (l levels) each(c cacheLevel) bool {
	return c.size <= l.flatFrom && c.name != l.caches[len(l.caches)-1].name
}

// capacity of the caches of a level that the threads can fill together. Each
// takes a core of its own as long as there are any, and the cores share the caches
// evenly; SMT siblings add none.
func (c cacheLevel) capacity(threads int) int64 {
	cores := min(threads, c.cores)
	return max(c.size, c.size*int64(c.caches*cores)/int64(max(1, c.cores)))
}

// MostCache is the cache of a core that is believed, in bytes: hardly a CPU has more, while a virtual
// machine of two cores claims the 480 MiB of its host and gets a fraction of them.
const MostCache = 32 << 20

// believed is the capacity, or what so many cores have at most. That of a whole device is its own.
func (c cacheLevel) believed(threads int) int64 {
	if c.cores == 0 {
		return c.capacity(threads)
	}
	return min(c.capacity(threads), MostCache*int64(c.cores))
}

// depth is how many times the next inner level a working set has to be for that level to serve next to nothing of it.
// Twice is too little: the 4 MiB of two L2 still served 5% of 8 MiB, and a quarter of 6 MiB.
const depth = 3

// deep says that a working set in a level is served by that alone.
func (l levels) deep(name schema.Level, bytes int64, threads int) bool {
	inner := int64(0)
	for _, c := range l.caches {
		if c.name == name {
			return bytes >= depth*inner
		}
		inner = c.capacity(threads)
	}
	return true
}

// arrayBytes chooses, for a level, the bytes of one of the up to three arrays of a
// STREAM kernel over all threads: a kernel of one array should be deep in the
// level, and must not fit into the one before; one of three must fit into this one. Where no array does both, as in
// an L3 of less than three times L2, one array is in the level before, and two are not.
// DRAM arrays are of dram bytes a thread, if that is on the flat part of the curve and memory
// allows it.
func (l levels) arrayBytes(name schema.Level, threads int, dram, memory int64) (bytes int64, limited bool, err error) {
	if name == l.outer {
		want := max(dram*int64(max(1, threads)), l.flatOn(threads))
		return bounded(want, memory/3, 4096)
	}
	inner := int64(0)
	for _, c := range l.caches {
		if c.name != name {
			inner = c.capacity(threads)
			continue
		}
		capacity := c.capacity(threads)
		if flat := l.flatOn(threads); flat > 0 && flat/2 < capacity && inner > 0 && !l.each(c) {
			// A virtual machine claims the cache of its host: the curve knows.
			capacity = flat / 2
		}
		if inner == 0 {
			return capacity / 4 &^ 63, false, nil
		}
		array := capacity / 4
		if most := capacity / 3; inner < most {
			array = min((depth+1)*inner, (inner+most)/2) // one more, as a claimed size may be a little off
		}
		if array &^= 63; array*2 > inner {
			return array, false, nil
		}
		return 0, false, fmt.Errorf("no room between %d bytes of the level before and %d effective bytes of %s: %w",
			inner, capacity, name, ErrUnsupported)
	}
	return 0, false, fmt.Errorf("no %s: %w", name, ErrUnsupported)
}

// bounded is a working set in whole pages that takes at most so much memory, and whether that makes it smaller.
func bounded(want, most, page int64) (bytes int64, limited bool, err error) {
	if bytes = min(want, most) &^ (page - 1); bytes > 0 {
		return bytes, want > most, nil
	}
	return 0, true, fmt.Errorf("%d bytes of memory do not hold the smallest working set: %w", most, ErrUnsupported)
}

// names lists the levels, innermost first, DRAM last.
func (l levels) names() []schema.Level {
	var all []schema.Level
	for _, c := range l.caches {
		all = append(all, c.name)
	}
	return append(all, l.outer)
}
