package bench

import (
	"errors"
	"testing"

	"hwcal/schema"
)

func TestLevels(t *testing.T) {
	claimed := []schema.Cache{
		{Level: 1, Type: "instruction", SizeBytes: 64 << 10, SharedBy: 1, Count: 2},
		{Level: 1, Type: "data", SizeBytes: 32 << 10, SharedBy: 1, Count: 2},
		{Level: 2, Type: "unified", SizeBytes: 2 << 20, SharedBy: 1, Count: 2},
		{Level: 3, Type: "unified", SizeBytes: 480 << 20, SharedBy: 96, Count: 1},
	}
	// A virtual machine that claims its host's 480 MiB and has about 128.
	curve := func(sizes ...int64) []curvePoint {
		var c []curvePoint
		for _, mib := range sizes {
			gbps := 12.0
			if mib < 128 {
				gbps = 30
			}
			c = append(c, curvePoint{mib << 20, gbps})
		}
		return c
	}
	l := claimedLevels(schema.CPUInfo{Cores: 2, Caches: claimed})
	c := curve(16, 22, 32, 45, 64, 90, 128, 181, 256, 362, 512)
	if !flat(c) || flat(c[:8]) {
		t.Errorf("flat: %v at the end, %v before", flat(c), flat(c[:8]))
	}
	l.learn(c)
	if l.flatFrom != 128<<20 {
		t.Errorf("flat from %d", l.flatFrom)
	}
	for _, c := range []struct {
		bytes   int64
		threads int
		want    schema.Level
	}{
		{16 << 10, 1, schema.L1}, {48 << 10, 1, schema.L2}, {48 << 10, 2, schema.L1},
		{64 << 20, 1, schema.L3}, {256 << 20, 1, schema.DRAM},
	} {
		if got := l.of(c.bytes, c.threads); got != c.want {
			t.Errorf("%d bytes on %d threads: %s, want %s", c.bytes, c.threads, got, c.want)
		}
	}
	for _, c := range []struct {
		level   schema.Level
		threads int
		memory  int64
		want    int64
		limited bool
	}{
		{schema.L1, 1, 8 << 30, 8 << 10, false},
		{schema.L2, 2, 8 << 30, 256 << 10, false}, // four times L1: deep in L2
		{schema.L3, 1, 8 << 30, 8 << 20, false},
		{schema.DRAM, 2, 8 << 30, 512 << 20, false},
		{schema.DRAM, 2, 900 << 20, 300 << 20, true},
	} {
		got, limited, err := l.arrayBytes(c.level, c.threads, 256<<20, c.memory)
		if err != nil || got != c.want || limited != c.limited {
			t.Errorf("array of %s on %d threads: %d, %v, %v; want %d, %v", c.level, c.threads, got, limited, err, c.want, c.limited)
		}
	}
	if _, _, err := l.arrayBytes(schema.DRAM, 2, 256<<20, 1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an array in no memory: %v", err)
	}
	if got := l.unclaimed(c); got != 0 {
		t.Errorf("%d bytes are more than 480 MiB", got)
	}
	small := claimedLevels(schema.CPUInfo{Cores: 2, Caches: claimed[:3]}) // a cache of 2 MiB at most, where 90 MiB are fast
	small.learn(c)
	if got := small.unclaimed(c); got != 90<<20 {
		t.Errorf("unclaimed cache of %d bytes, want %d", got, 90<<20)
	}
	// Where DRAM begins within twice L2, L3 cannot be measured.
	l.flatFrom = 4 << 20
	if _, _, err := l.arrayBytes(schema.L3, 2, 256<<20, 8<<30); !errors.Is(err, ErrUnsupported) {
		t.Errorf("L3 without room: %v", err)
	}
}

// A neighbour that holds some points down, in DRAM or before it, moves no level.
func TestPlateauWithDips(t *testing.T) {
	sizes := []int64{16, 22, 32, 45, 64, 90, 128, 181, 256, 362, 512}
	for low := range sizes {
		for other := range low + 1 {
			var c []curvePoint
			for i, mib := range sizes {
				gbps := 12.0
				if mib < 64 {
					gbps = 30
				}
				if i == low || i == other {
					gbps *= 0.7
				}
				c = append(c, curvePoint{mib << 20, gbps})
			}
			var l levels
			l.learn(c)
			if l.flatFrom != 64<<20 || l.flatGBps != 12 {
				t.Errorf("%d and %d MiB held down: flat from %d MiB, %g GB/s", sizes[low], sizes[other], l.flatFrom>>20, l.flatGBps)
			}
		}
	}
}

// SMT siblings share the caches of their core: more threads than cores fill no more.
func TestCapacity(t *testing.T) {
	ryzen5950X := schema.CPUInfo{Cores: 16, Threads: 32, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 32 << 10, SharedBy: 2, Count: 16},
		{Level: 2, Type: "unified", SizeBytes: 512 << 10, SharedBy: 2, Count: 16},
		{Level: 3, Type: "unified", SizeBytes: 32 << 20, SharedBy: 16, Count: 2},
	}}
	core12700K := schema.CPUInfo{Cores: 12, Threads: 20, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 48 << 10, SharedBy: 2, Count: 8},
		{Level: 1, Type: "data", SizeBytes: 32 << 10, SharedBy: 1, Count: 4},
		{Level: 2, Type: "unified", SizeBytes: 2 << 20, SharedBy: 4, Count: 1},
		{Level: 2, Type: "unified", SizeBytes: 1280 << 10, SharedBy: 2, Count: 8},
		{Level: 3, Type: "unified", SizeBytes: 25 << 20, SharedBy: 20, Count: 1},
	}}
	for _, c := range []struct {
		name    string
		cpu     schema.CPUInfo
		threads int
		kib     [3]int64 // of L1, L2 and L3
	}{
		{"one thread", ryzen5950X, 1, [3]int64{32, 512, 32 << 10}},
		{"the cores of one L3", ryzen5950X, 8, [3]int64{8 * 32, 8 * 512, 32 << 10}},
		{"a core of the second", ryzen5950X, 9, [3]int64{9 * 32, 9 * 512, 36 << 10}},
		{"all cores", ryzen5950X, 16, [3]int64{16 * 32, 16 * 512, 64 << 10}},
		{"all threads", ryzen5950X, 32, [3]int64{16 * 32, 16 * 512, 64 << 10}},
		{"P and E cores, one thread", core12700K, 1, [3]int64{32, 1280, 25 << 10}},
		{"P and E cores, all threads", core12700K, 20, [3]int64{12 * 32, 9 * 1280, 25 << 10}},
	} {
		l := claimedLevels(c.cpu)
		for i, want := range c.kib {
			if got := l.caches[i].capacity(c.threads) >> 10; got != want {
				t.Errorf("%s: %s of %d KiB, want %d", c.name, l.caches[i].name, got, want)
			}
		}
		if _, _, err := l.arrayBytes(schema.L3, c.threads, 256<<20, 64<<30); err != nil {
			t.Errorf("%s: L3: %v", c.name, err)
		}
	}
}

// Several threads fill several last caches, where one sees one of them.
func TestLevelsInSlices(t *testing.T) {
	l := claimedLevels(schema.CPUInfo{Cores: 64, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 32 << 10, SharedBy: 2, Count: 64},
		{Level: 2, Type: "unified", SizeBytes: 1 << 20, SharedBy: 2, Count: 64},
		{Level: 3, Type: "unified", SizeBytes: 32 << 20, SharedBy: 16, Count: 8},
	}})
	l.flatFrom = 45 << 20
	for _, c := range []struct {
		mib     int64
		threads int
		want    schema.Level
	}{
		{24, 1, schema.L3}, {48, 1, schema.DRAM}, {48, 64, schema.L2}, {200, 64, schema.L3}, {300, 64, schema.DRAM},
		{48, 128, schema.L2}, {100, 16, schema.DRAM}, {60, 16, schema.L3},
	} {
		if got := l.of(c.mib<<20, c.threads); got != c.want {
			t.Errorf("%d MiB on %d threads: %s, want %s", c.mib, c.threads, got, c.want)
		}
	}
	for _, threads := range []int{1, 8, 16, 64, 128} {
		if array, _, err := l.arrayBytes(schema.L3, threads, 256<<20, 64<<30); err != nil || l.of(3*array, threads) != schema.L3 {
			t.Errorf("array of L3 on %d threads: %d bytes, %v", threads, array, err)
		}
	}
	l.flatFrom = 64 << 20 // so that half of it is all of an L3
	for _, threads := range []int{1, 8, 16, 64, 128} {
		array, _, err := l.arrayBytes(schema.L3, threads, 256<<20, 64<<30)
		if one, three := l.of(array, threads), l.of(3*array, threads); err != nil || one != schema.L3 || three != schema.L3 {
			t.Errorf("%d threads: one array of %d bytes is in %s, three in %s, %v", threads, array, one, three, err)
		}
	}
}

// Where one thread reads the last cache no faster than DRAM, the cores of many have the caches before it all the same.
func TestLevelsBeforeAnUnseenOne(t *testing.T) {
	l := claimedLevels(schema.CPUInfo{Cores: 56, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 48 << 10, SharedBy: 2, Count: 56},
		{Level: 2, Type: "unified", SizeBytes: 2 << 20, SharedBy: 2, Count: 56},
		{Level: 3, Type: "unified", SizeBytes: 105 << 20, SharedBy: 112, Count: 1},
	}})
	l.flatFrom = 6 << 20
	for _, c := range []struct {
		mib     int64
		threads int
		want    schema.Level
	}{
		{1, 1, schema.L2}, {4, 1, schema.L3}, {8, 1, schema.DRAM}, {2, 56, schema.L1}, {8, 56, schema.L2}, {110, 56, schema.L2}, {200, 56, schema.DRAM},
	} {
		if got := l.of(c.mib<<20, c.threads); got != c.want {
			t.Errorf("%d MiB on %d threads: %s, want %s", c.mib, c.threads, got, c.want)
		}
	}
	array, _, err := l.arrayBytes(schema.L2, 56, 256<<20, 64<<30)
	if one, three := l.of(array, 56), l.of(3*array, 56); err != nil || one != schema.L2 || three != schema.L2 {
		t.Errorf("array of L2: %d bytes, one in %s, three in %s, %v", array, one, three, err)
	}
	if _, _, err := l.arrayBytes(schema.L3, 56, 256<<20, 64<<30); !errors.Is(err, ErrUnsupported) {
		t.Errorf("L3, of which nothing was seen: %v", err)
	}
}

// Where no cache is claimed at all, those that the curve shows are not.
func TestNothingClaimed(t *testing.T) {
	l := levels{outer: schema.DRAM, flatFrom: 64 << 20, flatGBps: 12}
	if got := l.unclaimed([]curvePoint{{1 << 20, 100}, {32 << 20, 30}, {64 << 20, 12}}); got != 32<<20 {
		t.Errorf("unclaimed cache of %d bytes, want %d", got, 32<<20)
	}
}

// One that claims a last cache for each core, and has less, is not believed for many threads either.
func TestLevelsBeyondClaims(t *testing.T) {
	l := claimedLevels(schema.CPUInfo{Cores: 16, Caches: []schema.Cache{
		{Level: 2, Type: "unified", SizeBytes: 1 << 20, SharedBy: 1, Count: 16},
		{Level: 3, Type: "unified", SizeBytes: 16 << 20, SharedBy: 1, Count: 16},
	}})
	l.flatFrom = 64 << 20
	if got := l.of(200<<20, 16); got != schema.DRAM {
		t.Errorf("200 MiB on 16 threads: %s", got)
	}
}

// A virtual machine does not have the cache of its host.
func TestBelievedCache(t *testing.T) {
	for _, c := range []struct {
		size  int64
		cores int
		want  int64
	}{
		{480 << 20, 2, 64 << 20},
		{480 << 20, 60, 480 << 20},
		{50 << 20, 0, 50 << 20}, // of a GPU
	} {
		if got := (cacheLevel{size: c.size, caches: 1, cores: c.cores}).believed(1); got != c.want {
			t.Errorf("%d bytes with %d cores: %d, want %d", c.size, c.cores, got, c.want)
		}
	}
}
