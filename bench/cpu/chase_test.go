package cpu

import (
	"testing"
	"time"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// chaseMemory is outside of the Go heap.
func chaseMemory(t testing.TB, size int64, huge bool) []uint64 {
	t.Helper()
	a, err := newArena(size, huge)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return unsafe.Slice((*uint64)(unsafe.Pointer(&a.mem[0])), size/8)
}

func TestChasePath(t *testing.T) {
	for _, lines := range []int{1, 2, 3, 64, 1000, 4096} {
		mem := chaseMemory(t, int64(lines*64), true)
		start := chasePath(mem, 42)
		visited := map[unsafe.Pointer]bool{}
		for p := start; !visited[p]; p = chase(p, 1) {
			visited[p] = true
		}
		if len(visited) != lines {
			t.Errorf("%d lines: the cycle has %d", lines, len(visited))
		}
		if end := chase(start, lines); end != start {
			t.Errorf("%d lines: %d steps end %d bytes from the start", lines, lines, uintptr(end)-uintptr(start))
		}
		before := append([]uint64(nil), mem...)
		chasePath(mem, 42)
		same, other := true, false
		for i := range mem {
			same = same && mem[i] == before[i]
		}
		chasePath(mem, 43)
		for i := range mem {
			other = other || mem[i] != before[i]
		}
		if !same || lines > 64 && !other {
			t.Errorf("%d lines: same seed, same path: %v; other seed, other path: %v", lines, same, other)
		}
	}
}

// A resident path is read before each sample, all of it and by one worker; another is not.
func TestChaseResident(t *testing.T) {
	b := testBackend(t, Portable)
	for _, resident := range []bool{false, true} {
		op := bench.Chase(1<<16, 100, resident)
		opened, err := b.Open(bench.Case{Chain: bench.Chain{op}, DType: schema.FP64, Place: bench.Place{Threads: 1}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		ws := opened.(*workspace)
		bound, err := ws.Bind(bench.Chain{op})
		if err != nil {
			t.Fatal(err)
		}
		k, times := bound.(*kernel), 0
		if (k.before != nil) != resident {
			t.Fatalf("resident %t: something is done before %t", resident, k.before != nil)
		}
		if before := k.before; resident {
			k.before = func(w *worker) { times++; before(w) }
		}
		if _, err := ws.Samples([]bench.Run{{Kernels: []bench.Kernel{k}, N: 3}, {Kernels: []bench.Kernel{k}, N: 1}}); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 2}[resident]; times != want {
			t.Errorf("resident %t: read %d times for two samples", resident, times)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := sweep([]uint64{lineWords: 2, 2 * lineWords: 3, 3*lineWords - 1: 100}); got != 5 {
		t.Errorf("the words of the lines add up to %d", got)
	}
}

func BenchmarkChase(b *testing.B) {
	sizes := []struct {
		name  string
		bytes int64
	}{{"16KiB", 16 << 10}, {"256KiB", 256 << 10}, {"4MiB", 4 << 20}, {"256MiB", 256 << 20}}
	for _, huge := range []bool{true, false} {
		pages := map[bool]string{true: "huge", false: "small"}[huge]
		for _, size := range sizes {
			b.Run(pages+"/"+size.name, func(b *testing.B) {
				mem := chaseMemory(b, size.bytes, huge)
				begin := time.Now()
				p := chasePath(mem, 1)
				b.ReportMetric(time.Since(begin).Seconds()*1000, "ms-to-build")
				const steps = 1 << 16
				p = chase(p, steps)
				best := time.Duration(1 << 62)
				for b.Loop() {
					begin := time.Now()
					p = chase(p, steps)
					best = min(best, time.Since(begin))
				}
				b.ReportMetric(float64(best)/steps, "ns/load")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
