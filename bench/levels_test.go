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
	l := claimedLevels(claimed)
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
		{schema.L2, 2, 8 << 30, 128 << 10, false}, // twice L1: in L2, and not in L1
		{schema.L3, 1, 8 << 30, 4 << 20, false},
		{schema.DRAM, 2, 8 << 30, 512 << 20, false},
		{schema.DRAM, 2, 900 << 20, 300 << 20, true},
	} {
		got, limited, err := l.arrayBytes(c.level, c.threads, 256<<20, c.memory)
		if err != nil || got != c.want || limited != c.limited {
			t.Errorf("array of %s on %d threads: %d, %v, %v; want %d, %v", c.level, c.threads, got, limited, err, c.want, c.limited)
		}
	}
	if got := l.unclaimed(c); got != 0 {
		t.Errorf("%d bytes are more than 480 MiB", got)
	}
	small := claimedLevels(claimed[:3]) // a cache of 2 MiB at most, where 90 MiB are fast
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
