package cpu

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// threadCounts are one and all threads of a backend.
func threadCounts(b *Backend) []int { return oneAnd(len(b.cpus)) }

// oneAnd gives one thread and several, under -short only those: an emulator takes minutes for both.
func oneAnd(several int) []int {
	if testing.Short() {
		return []int{several}
	}
	return []int{1, several}
}

// testBackend uses up to two of the CPUs that the process may run on, and at best
// the given family; any if it is empty.
func testBackend(t testing.TB, isa ISA) *Backend {
	t.Helper()
	if isa != "" {
		t.Setenv("HWCAL_ISA", string(isa))
	}
	cpus := allowedCPUs(t)
	cpus = cpus[:min(2, len(cpus))]
	b, err := New(schema.Device{ID: "cpu0", CPU: &schema.CPUInfo{
		UsedCPUs: cpus,
		Caches: []schema.Cache{
			{Level: 1, Type: "data", SizeBytes: 32 << 10},
			{Level: 2, Type: "unified", SizeBytes: 1 << 20},
			{Level: 3, Type: "unified", SizeBytes: 32 << 20},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

var convTestShapes = []string{
	"2x4x9x7x6x3x1x1x1", "1x8x10x10x16x1x1x0x1", "1x6x11x11x9x3x2x1x3", "1x8x9x9x8x3x1x1x8", "1x3x12x12x5x5x2x2x1", "1x5x13x37x5x3x2x1x5", "1x2x1x200x2x1x3x1x2", "1x2x1x200x2x1x5x2x2", "2x20x7x7x15x3x1x1x1",
}

// Shapes that straddle tiles and cut rows, small enough for the portable kernels.
var chainShapes = map[string][]string{
	"linear":      {"1x1x1", "17x33x65", "64x128x96", "33x129x257"},
	"conv":        convTestShapes,
	"attention":   {"1x1x1x1", "2x3x37x19", "1x2x130x64", "1x1x65x33"},
	"compute":     {"5x7x9", "65x130x33"},
	"elementwise": {"1x1", "3x17", "1x9001", "65x130"},
	"network":     nil, // see TestNetworks
	"operation":   {"1x1x1", "3x5x17", "1x2x129", "2x33x130", "1x9x1201", "1x1x2050", "1x1024x35"},

	// Of the same group, and of other dimensions.
	"conv2d":              convTestShapes,
	"max_pool":            {"1x1x1x1x1x1x0", "2x3x14x14x3x2x1", "1x5x17x40x3x2x1", "1x4x9x33x2x2x0", "1x3x12x13x5x3x2", "2x2x10x70x3x1x1", "1x3x112x112x3x2x1"},
	"global_average_pool": {"1x1x1x1", "2x65x7x7", "1x3x150x231"},
	"Depthwise_Pointwise": {"2x4x9x7x6x3x1x1", "1x17x14x14x33x3x2x1", "1x3x5x6x4x5x1x2", "1x6x11x40x15x3x3x0", "1x2x1x200x3x1x3x1"},
	"embedding":           {"1x1x1", "3x5x17", "2x33x130"},                         // 32000 rows as long
	"permute":             {"1x1x1", "3x5x17", "2x33x130", "3x9x64", "1x2300x256"}, // one head, and more than an L2
	"Softmax_Mask":        {"1x1x1", "3x5x17", "2x7x130", "1x1x4100", "70x1x33"},
	"matmul_batched":      {"1x5x7x9", "3x33x17x65"},
	// A square, one query, some of many, of more than a block.
	"Causal_Attention":        {"1x1x1x1x1", "2x3x37x37x19", "1x2x1x70x16", "1x1x45x130x64", "1x1x9x530x33"},
	"Grouped_Query_Attention": {"1x4x1x33x33x16", "2x6x3x17x40x24", "1x3x3x20x21x5"},
	"Decode_Attention":        {"1x1x1x1x1", "1x1x1x130x64", "2x4x2x37x19", "1x3x3x2x5", "3x8x1x101x128", "1x5x1x70x80"},
	"peak_fma":                nil,
}

// Every pattern, fused and unfused, on every family, in both types, on one thread
// and two, agrees with float64 on a sample of its elements that is whole for
// these sizes.
func TestPatternsAgreeWithReference(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, threads := range threadCounts(b) {
			for _, p := range append(bench.Patterns(), bench.Operations()...) {
				shapes, own := chainShapes[p.Name]
				if !own {
					shapes = chainShapes[p.Group]
				}
				for _, text := range shapes {
					verifyShape(t, b, p, text, threads)
				}
			}
		}
	})
}

// caseOf builds a case of a pattern on a shape.
func caseOf(t *testing.T, name, text string, d schema.DType, threads int) bench.Case {
	t.Helper()
	p, err := bench.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := bench.ParseShape(text, p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	place := bench.Place{Threads: threads}
	chain, err := p.In(d).Build(shape, place)
	if err != nil {
		t.Fatal(err)
	}
	return bench.Case{Chain: chain, DType: d, Place: place, Seed: 7}
}

func verifyShape(t *testing.T, b *Backend, p bench.Pattern, text string, threads int) {
	t.Helper()
	shape, err := bench.ParseShape(text, p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := p.Build(shape, bench.Place{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []schema.DType{schema.FP32, schema.FP64} {
		c := bench.Case{Chain: chain, DType: d, Place: bench.Place{Threads: threads}, Seed: 7}
		if _, err := bench.Verify(b, c); err != nil {
			t.Errorf("%s %s %s %d threads: %v", p.Name, shape, d, threads, err)
		}
	}
}

// Every bandwidth kernel computes what its name says, at sizes with tails, on
// parts that differ from thread to thread.
func TestStreamsAgreeWithReference(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, s := range bench.Streams {
			for _, n := range []int64{1, 7, 8, 100, 4096, 10007} {
				for _, threads := range threadCounts(b) {
					c := bench.Case{
						Chain: bench.Chain{s.Op(bench.NewStreamArrays(n, int64(threads)))},
						DType: schema.FP64, Place: bench.Place{Threads: threads}, Seed: 3,
					}
					if _, err := bench.Verify(b, c); err != nil && !errors.Is(err, bench.ErrUnsupported) {
						t.Errorf("%s n=%d %d threads: %v", s.Name, n, threads, err)
					}
				}
			}
		}
	})
}

func TestUnsupportedIsSaid(t *testing.T) {
	b := testBackend(t, Portable)
	c := bench.Case{Chain: bench.Chain{bench.PeakFMA(1, 1)}, DType: schema.BF16, Place: bench.Place{Threads: 1}}
	if _, err := b.Open(c); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("open in bf16: %v, want unsupported", err)
	}
	if _, err := b.Clock(bench.Place{Threads: runtime.NumCPU() + 1}, true); err == nil {
		t.Error("more threads than CPUs: no error")
	}
}

// Memory that is bound to the node of its cores serves as any other; that a node
// that is not there refuses is said, not fatal. Paths between nodes need a machine
// that has several.
func TestMemoryBoundToNode(t *testing.T) {
	b := testBackend(t, "")
	b.nodes = map[int][]int{0: b.cpus}
	op := bench.Streams[0].Op(bench.NewStreamArrays(1<<20, 1))
	c := bench.Case{Chain: bench.Chain{op}, DType: schema.FP64, Place: bench.Place{Threads: 1, NUMA: bench.NUMA{Bound: true}}, Seed: 1}
	if _, err := bench.Verify(b, c); errors.Is(err, bench.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int{-1, 1023, 1024} {
		c.Place.NUMA.Memory = memory
		if _, err := b.Open(c); err == nil {
			t.Errorf("memory of node %d: no error", memory)
		}
	}
	c.Place.NUMA = bench.NUMA{Bound: true, Node: 7}
	if _, err := b.Open(c); err == nil {
		t.Error("cores of node 7: no error")
	}
}

// A virtual machine of two cores does not have the L3 of its host, which it claims.
func TestClaimedL3(t *testing.T) {
	for _, c := range []struct{ claimed, cores, want int }{
		{480, 2, 64}, {480, 60, 480}, {4, 2, 4},
	} {
		l3 := []schema.Cache{{Level: 3, Type: "unified", SizeBytes: int64(c.claimed) << 20}}
		b, err := New(schema.Device{CPU: &schema.CPUInfo{UsedCPUs: []int{0}, Cores: c.cores, Caches: l3}})
		if err != nil {
			t.Fatal(err)
		}
		if b.caches.L3 != c.want<<20 {
			t.Errorf("%d MiB with %d cores: %d bytes, want %d MiB", c.claimed, c.cores, b.caches.L3, c.want)
		}
	}
}

// Cores that share an L2 have a part of it each, those of a server one of their own.
func TestL2OfOneCore(t *testing.T) {
	l2 := func(kib, count, sharedBy int) schema.Cache {
		return schema.Cache{Level: 2, Type: "unified", SizeBytes: int64(kib) << 10, Count: count, SharedBy: sharedBy}
	}
	for _, c := range []struct {
		name           string
		cores, threads int
		classes        int
		caches         []schema.Cache
		want           int
	}{
		{"unknown", 8, 8, 1, nil, 0},
		{"Cortex-A72", 4, 4, 1, []schema.Cache{l2(1024, 1, 4)}, 256 << 10},
		{"sharing unknown", 4, 4, 1, []schema.Cache{l2(1024, 1, 1)}, 256 << 10},
		{"Neoverse-V2", 72, 72, 1, []schema.Cache{l2(1024, 72, 1)}, 1 << 20},
		{"Xeon", 24, 48, 1, []schema.Cache{l2(2048, 24, 2)}, 2 << 20},
		{"Core 2 Quad", 4, 4, 1, []schema.Cache{l2(6144, 2, 2)}, 3 << 20},
		{"Apple M1", 8, 8, 2, []schema.Cache{l2(12<<10, 1, 4), l2(4096, 1, 4)}, 1 << 20},
		{"Alder Lake", 16, 24, 2, []schema.Cache{l2(1280, 8, 2), l2(2048, 2, 4)}, 512 << 10},
		{"Lunar Lake", 8, 8, 2, []schema.Cache{l2(2560, 4, 1), l2(4096, 1, 4)}, 1 << 20},
	} {
		cpu := &schema.CPUInfo{UsedCPUs: []int{0}, Cores: c.cores, Threads: c.threads, Caches: c.caches, CoreClasses: make([]schema.CoreClass, c.classes)}
		b, err := New(schema.Device{CPU: cpu})
		if err != nil {
			t.Fatal(err)
		}
		if b.caches.L2 != c.want {
			t.Errorf("%s: %d bytes of L2 for a core, want %d", c.name, b.caches.L2, c.want)
		}
	}
}

// The family that is listed for a chain is the one that its kernel is named after.
func TestListedFamilies(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for name, text := range map[string]string{
			"matmul": "33x17x65", "conv2d": "1x3x9x9x5x3x1x1x1", "QK_T": "1x1x9x8", "peak_fma": "1",
			"relu": "1x3x5", "softmax": "1x3x5", "layernorm": "1x3x5", "transpose": "1x3x5",
		} {
			c := caseOf(t, name, text, schema.FP32, 1)
			ws, err := b.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			k, err := ws.Bind(c.Chain)
			if err != nil {
				t.Fatal(err)
			}
			if listed := b.Implementations(c.Chain.String(), schema.FP32)[0]; !strings.HasSuffix(k.Implementation(), "_"+listed) {
				t.Errorf("%s: %s is listed, %s is bound", name, listed, k.Implementation())
			}
			ws.Close()
		}
	})
}

// Of hardware threads that share a core each has a part of its caches.
func TestCachesOfSiblings(t *testing.T) {
	cpu := &schema.CPUInfo{Cores: 2, Threads: 4, UsedCPUs: []int{0, 1, 2, 3}, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 48 << 10, Count: 2}, {Level: 2, Type: "unified", SizeBytes: 2 << 20, Count: 2}, {Level: 3, Type: "unified", SizeBytes: 16 << 20, Count: 1},
	}}
	for threads, want := range map[int]cacheSizes{
		1: {L1: 48 << 10, L2: 2 << 20, L3: 16 << 20}, 2: {L1: 48 << 10, L2: 2 << 20, L3: 16 << 20}, 3: {L1: 24 << 10, L2: 1 << 20, L3: 16 << 20}, 4: {L1: 24 << 10, L2: 1 << 20, L3: 16 << 20},
	} {
		b, err := New(schema.Device{ID: "cpu0", CPU: cpu})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.cachesOf(bench.Place{Threads: threads}); got != want {
			t.Errorf("%d threads: %+v, want %+v", threads, got, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
