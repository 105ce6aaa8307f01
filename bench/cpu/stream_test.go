package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// streamWant is the result of a kernel for one element, and what its rounding
// error is relative to.
func streamWant(name string, a, b, c, s float64) (want, magnitude float64) {
	switch name {
	case "write", "write_nt":
		return s, 0
	case "copy", "copy_nt", "copy_nt4":
		return b, 0
	case "scale":
		return s * b, 0
	case "add":
		return b + c, 0
	case "triad", "triad_nt":
		return math.FMA(s, c, b), math.Abs(b) + math.Abs(s*c)
	}
	return a, 0 // the reading kernels
}

func TestStream(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, k := range streamKernels(isa) {
			t.Run(k.name, func(t *testing.T) { testStream(t, k) })
		}
	})
}

// testStream runs a kernel at lengths around the vectors, the unrolled loops and
// the parts of a call, at every offset from a cache line.
func testStream(t *testing.T, k streamKernel) {
	var lengths []int
	for n := range 70 {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, 127, 128, 129, 200, 255, 256, 257, 300, 511, 513, 1000, 4099)
	for _, front := range []bool{false, true} {
		for _, n := range lengths {
			var x [3][]float64
			for i := range x {
				x[i] = guardedOne[float64](t, n+8, front)
			}
			for off := range 8 {
				// Behind a guard page the tensors begin at the page; before
				// one they end there. The others are offset differently.
				cut := func(i int) []float64 {
					o := off * (i + 1) % 8
					if front {
						return x[i][o : o+n]
					}
					return x[i][len(x[i])-o-n : len(x[i])-o]
				}
				checkStream(t, k, 1+off%3, x, cut(0), cut(1), cut(2))
			}
		}
	}
	for _, n := range []int{streamChunk - 1, streamChunk + 17} {
		var x [3][]float64
		for i := range x {
			x[i] = guardedOne[float64](t, n, i == 0)
		}
		checkStream(t, k, 2, x, x[0], x[1], x[2])
	}
}

// checkStream runs the kernel on parts a, b and c of the tensors and compares.
func checkStream(t *testing.T, k streamKernel, reps int, whole [3][]float64, a, b, c []float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(len(a)), uint64(reps)))
	for i := range whole[0] {
		whole[0][i] = math.NaN()
	}
	for i := range a {
		a[i], b[i], c[i] = random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
	}
	var all, bits uint64
	for _, v := range a {
		all ^= math.Float64bits(v)
	}
	for range reps {
		bits = bits<<1 ^ all
	}
	const s = 1.7
	wants := make([]float64, len(a))
	bounds := make([]float64, len(a))
	for i := range a {
		want, magnitude := streamWant(k.name, a[i], b[i], c[i], s)
		wants[i], bounds[i] = want, gamma[float64](2)*magnitude
	}
	sum := k.run(reps, a, b, c, s)
	if k.name != "read" && k.name != "read4" {
		bits = 0
	}
	if sum != bits {
		t.Fatalf("%s: %d elements, %d passes: checksum %#x, want %#x", k.name, len(a), reps, sum, bits)
	}
	for i := range a {
		if d := math.Abs(a[i] - wants[i]); !(d <= bounds[i]) {
			t.Fatalf("%s: %d elements: a[%d] = %v, want %v +- %v", k.name, len(a), i, a[i], wants[i], bounds[i])
		}
	}
	written := 0
	for _, v := range whole[0] {
		if !math.IsNaN(v) {
			written++
		}
	}
	if written != len(a) {
		t.Fatalf("%s: %d elements: %d written", k.name, len(a), written)
	}
}

// The portable copy is the Go runtime's, which moves vectors: it stays within the limit all the same.
func TestLimitOfPortableCopy(t *testing.T) {
	b := testBackend(t, Portable)
	i := slices.IndexFunc(portableStream, func(k streamKernel) bool { return k.name == "copy" })
	k, from, to := portableStream[i], make([]float64, 1024), make([]float64, 1024)
	const passes, tries = 200, 50
	best := time.Duration(math.MaxInt64)
	for range tries {
		begin := time.Now()
		k.run(passes, to, from, nil, 0)
		best = min(best, time.Since(begin))
	}
	mhz, err := effectiveClock()
	if err != nil {
		t.Skip(err)
	}
	got := float64(passes*len(to)*k.bytes) / best.Seconds() / (mhz * 1e6)
	if limit := b.Limit(schema.FP64, bench.Place{Threads: 1}).BytesPerCycle; got > limit {
		t.Errorf("%.0f bytes a cycle, the limit is %.0f", got, limit)
	}
}

// BenchmarkStream works in a set of L1, L2 and DRAM.
func BenchmarkStream(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	mem, err := newArena(256<<20+1<<16, true)
	if err != nil {
		b.Fatal(err)
	}
	defer mem.close()
	for _, isa := range isas {
		for _, k := range streamKernels(isa) {
			for _, set := range []int{16 << 10, 512 << 10, 256 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%dKiB", isa, k.name, set>>10), func(b *testing.B) { benchmarkStream(b, k, mem, set) })
			}
		}
	}
}

func benchmarkStream(b *testing.B, k streamKernel, mem *arena, set int) {
	mem.reset()
	var x [3][]float64
	for i := range k.tensors {
		part, err := mem.alloc(int64(set / k.tensors / 64 * 64))
		if err != nil {
			b.Fatal(err)
		}
		x[i] = as[float64](part)
		for j := range x[i] {
			x[i][j] = rand.NormFloat64()
		}
	}
	reps := max(1, 8<<20/set)
	best := time.Duration(1 << 62)
	for b.Loop() {
		begin := time.Now()
		k.run(reps, x[0], x[1], x[2], 1.7)
		best = min(best, time.Since(begin))
	}
	b.ReportMetric(float64(reps*len(x[0])*k.bytes)/float64(best), "GB/s")
	b.ReportMetric(0, "ns/op")
}

// Pieces of a part follow each other, begin again behind the last whole one, and leave the part of no worker.
func TestPiecesOfAPart(t *testing.T) {
	team := newTestTeam(t, 2)
	for _, n := range []int{16, 200, 1000, 1003} {
		a := make([]float64, n)
		for most := 8; most <= 2*n; most *= 3 {
			for piece := range 12 {
				var from, count [2]int
				s := streamRun{n: n, out: a, params: bench.StreamParams{Passes: 1}}
				team.run(func(w *worker) {
					mine := s
					mine.run = func(_ int, part, _, _ []float64, _ float64) uint64 {
						from[w.id], count[w.id] = n-cap(part), len(part)
						return 0
					}
					mine.part(w, piece, most)
				})
				for id := range 2 {
					lo, hi := bench.Part(int64(n), bench.StreamGrain, int64(id), 2)
					whole := max(1, (int(hi-lo))/most)
					want := int(lo) + piece%whole*most
					if from[id] != want || count[id] != min(most, int(hi)-want) {
						t.Fatalf("piece %d of %d elements, %d in all: worker %d has %d from %d on, want them from %d on", piece, most, n, id, count[id], from[id], want)
					}
				}
			}
		}
	}
}
