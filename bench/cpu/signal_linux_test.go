package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hwcal/bench"
	"hwcal/schema"
)

// garbage keeps the allocations of the test from the stack.
var garbage []byte

// Vector and tile registers survive the signals with which the runtime preempts
// goroutines and the collections that go with them: a product is the same bit by bit.
func TestSignals(t *testing.T) {
	t.Run("fp32", func(t *testing.T) { disturb(t, testBackend(t, ""), schema.FP32, "301x517x411") })
	for _, u := range units {
		if u.isa != AMX {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s", u.dtype, u.name), func(t *testing.T) {
			shape := "301x517x411"
			if provide(t, u) {
				shape = "70x70x70"
			}
			b := testBackend(t, "")
			b.units = map[schema.DType][]unit{u.dtype: {u}}
			disturb(t, b, u.dtype, shape)
		})
	}
}

func disturb(t *testing.T, b *Backend, d schema.DType, text string) {
	p, err := bench.Lookup("matmul")
	if err != nil {
		t.Fatal(err)
	}
	shape, err := bench.ParseShape(text, p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := p.Build(shape, bench.Place{Threads: len(b.cpus)})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.Open(bench.Case{Chain: chain, DType: d, Place: bench.Place{Threads: len(b.cpus)}, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	k, err := ws.Bind(chain)
	if err != nil {
		t.Fatal(err)
	}
	product := func() []float64 {
		out := make([]float64, chain.Output().Elems())
		if _, err := bench.Sample(ws, []bench.Kernel{k}, 1); err != nil {
			t.Fatal(err)
		}
		if err := ws.Read(chain.Output(), 0, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := product()
	stop, stopped := make(chan bool), make(chan int)
	go func() {
		signals := 0
		for {
			select {
			case <-stop:
				stopped <- signals
				return
			default:
			}
			garbage = make([]byte, 1<<16)
			runtime.GC()
			for range 10 {
				for _, w := range b.team.workers {
					if unix.Tgkill(unix.Getpid(), w.tid, unix.SIGURG) == nil {
						signals++
					}
				}
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	products := 0
	for begin := time.Now(); products < 2 || time.Since(begin) < 500*time.Millisecond; products++ {
		if got := product(); !slices.Equal(got, want) {
			t.Errorf("product %d differs", products)
			break
		}
	}
	close(stop)
	signals := <-stopped
	t.Logf("%d products under %d signals", products, signals)
	if signals == 0 {
		t.Error("no signal was sent")
	}
}
