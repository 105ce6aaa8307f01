package cuda

import (
	"encoding/binary"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/bench/ref"

	"hwcal/schema"
)

// Arrays that leave something in every part of the loop, and fewer elements than parts.
func TestStreams(t *testing.T) { verifyStreams(t, newEmulated(t, Capability{8, 0})) }

func verifyStreams(t *testing.T, b *Backend) {
	for _, size := range []struct{ n, threads, passes int64 }{{1, 2, 2}, {7, 3, 2}, {8, 1, 2}, {9000, 3, 2}, {8193, 2, 1}, {1027, 2, 1}} {
		arrays := bench.NewStreamArrays(size.n, size.threads)
		var chains []bench.Chain
		for _, s := range bench.Streams {
			op := s.Op(arrays)
			p := op.Params.(bench.StreamParams)
			p.Passes = min(p.Passes, size.passes)
			if !p.Checksum {
				op.Params = p
				chains = append(chains, bench.Chain{op})
			}
		}
		verifyKernels(t, b, []schema.DType{schema.FP64}, chains...)
	}
	for _, n := range []int64{1 << 19, 1<<19 + 13} { // a pass is enough
		arrays := bench.NewStreamArrays(n, 2)
		verifyKernels(t, b, []schema.DType{schema.FP64}, bench.Chain{bench.Streams[0].Op(arrays)}, bench.Chain{bench.Streams[1].Op(arrays)})
	}
}

// What is written, and passed once, has a pair of elements for each thread, or four in all passes if nothing is read, unless
// it is in four streams.
func TestStreamParts(t *testing.T) {
	for _, s := range bench.Streams {
		coarse, fine, finest := 1024, 8*1024, 1<<27/512
		switch {
		case s.Writes == 0:
			finest = 1024
		case s.Reads == 0:
			finest /= 4
			coarse = finest / 2
		case strings.HasSuffix(s.Name, "4"):
			finest = fine
		}
		for n, want := range map[int64]int{1 << 26: coarse, 1 << 27: finest} { // of 512 MiB, passed twice, and 1 GiB
			if got := streamParts(s.Op(bench.NewStreamArrays(n, 1024))); got != want {
				t.Errorf("%s of %d elements: %d parts, want %d", s.Name, n, got, want)
			}
		}
	}
}

// The chain goes through all lines before it comes back.
func TestChase(t *testing.T) { verifyChase(t, newEmulated(t, Capability{8, 0})) }

func verifyChase(t *testing.T, b *Backend) {
	const lines = 37
	for _, loads := range []int64{lines - 1, lines} {
		op := bench.Chase(lines*lineBytes, loads, false)
		w, err := b.Open(bench.Case{Chain: bench.Chain{op}, DType: schema.FP64, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		ws := w.(*workspace)
		k, err := ws.Bind(bench.Chain{op})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Sample(ws, []bench.Kernel{k}, 1); err != nil {
			t.Fatal(err)
		}
		word := func(a Address) Address {
			mem := make([]byte, 8)
			if err := ws.context.Download(mem, a); err != nil {
				t.Fatal(err)
			}
			return Address(binary.NativeEndian.Uint64(mem))
		}
		start, end := ws.of(op.Out).address, word(ws.blocks[len(ws.blocks)-1])
		if (loads == lines) != (end == start) || loads < lines && word(end) != start {
			t.Errorf("after %d loads of %d lines at line %d", loads, lines, (end-start)/lineBytes)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}

// transfers by name, and whether they start from the host.
var transfers = map[string]bool{"host_to_device": true, "device_to_host": false}

// transfer copies 1001 elements.
func transfer(name string, fromHost bool) bench.Chain {
	x := func(host bool) *bench.Tensor { return &bench.Tensor{Name: "a", Dims: []int64{1001}, Host: host} }
	return bench.Chain{{Name: name, In: []*bench.Tensor{x(fromHost)}, Out: x(!fromHost),
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field { return ref.Copy(in[0]) }}}
}

func TestTransfers(t *testing.T) { verifyTransfers(t, newEmulated(t, Capability{8, 0})) }

func verifyTransfers(t *testing.T, b *Backend) {
	for name, host := range transfers {
		verifyKernels(t, b, []schema.DType{schema.FP64}, transfer(name, host))
	}
}

func emptyChain() bench.Chain { return bench.Chain{{Name: "empty", Out: matrix("none", 1)}} }

func TestEmpty(t *testing.T) { verifyEmpty(t, newEmulated(t, Capability{8, 0})) }

func verifyEmpty(t *testing.T, b *Backend) {
	for _, graph := range []bool{false, true} {
		c := emptyChain()
		ws, err := b.Open(bench.Case{Chain: c, DType: schema.FP32, Graph: graph})
		if err != nil {
			t.Fatal(err)
		}
		k, err := ws.Bind(c)
		if err != nil {
			t.Fatal(err)
		}
		if took, err := bench.Sample(ws, []bench.Kernel{k}, 3); err != nil || took <= 0 {
			t.Errorf("graph %v: %v, %v", graph, took, err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}
