package cpu

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// BenchmarkAgainstC compares the best bandwidth kernel on DRAM with the best of
// STREAM in plain C at -O3, in turns in one run, on the same CPUs and arrays of
// the same size.
func BenchmarkAgainstC(b *testing.B) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("there is no C compiler")
	}
	program := filepath.Join(b.TempDir(), "stream")
	if out, err := exec.Command(cc, "-O3", "-pthread", "-o", program, "testdata/stream.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	backend := testBackend(b, "")
	for threads := 1; threads <= len(backend.cpus); threads++ {
		b.Run(fmt.Sprintf("%dthreads", threads), func(b *testing.B) {
			n := int64(threads) * 256 << 20 / 8
			var ours, theirs float64
			for range b.N {
				for range 3 {
					theirs = max(theirs, cStream(b, program, n, backend.cpus[:threads]))
					ours = max(ours, ourStream(b, backend, n, threads))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(theirs, "C-GB/s")
			b.ReportMetric(ours, "GB/s")
			b.ReportMetric(ours/theirs, "ours/C")
		})
	}
}

// cStream is the best of the four kernels in C.
func cStream(b *testing.B, program string, n int64, cpus []int) float64 {
	args := []string{fmt.Sprint(n), "6"}
	for _, cpu := range cpus {
		args = append(args, fmt.Sprint(cpu))
	}
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		b.Fatal(err)
	}
	var best float64
	for _, word := range strings.Fields(string(out)) {
		var rate float64
		if _, err := fmt.Sscan(word, &rate); err != nil {
			b.Fatal(err)
		}
		best = max(best, rate)
	}
	return best
}

// ourStream is the best of our kernels, each with as many rounds.
func ourStream(b *testing.B, backend *Backend, n int64, threads int) float64 {
	arrays := bench.NewStreamArrays(n, int64(threads))
	var all bench.Chain
	for _, s := range bench.Streams {
		all = append(all, s.Op(arrays))
	}
	ws, err := backend.Open(bench.Case{Chain: all, DType: schema.FP64, Place: bench.Place{Threads: threads}, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	best := 0.0
	for i, s := range bench.Streams {
		k, err := ws.Bind(all[i : i+1])
		if err != nil {
			b.Fatal(err)
		}
		var times []time.Duration
		for range 6 {
			t, err := ws.Sample([]bench.Kernel{k}, 1)
			if err != nil {
				b.Fatal(err)
			}
			times = append(times, t)
		}
		best = max(best, float64(s.Traffic(arrays))/slices.Min(times).Seconds()/1e9)
	}
	return best
}
