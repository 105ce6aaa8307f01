package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// block is a small network: X W + b, on two ways, of which one goes past the other.
var block = Pattern{
	Name: "Block", Group: networkGroup, Dims: []string{"batch"},
	Shapes: func(schema.Mode) []Shape { return []Shape{dims([]string{"batch"}, 64)} },
	Chain: func(s Shape, _ int64) (Chain, error) {
		n := &network{}
		x := n.linear(&Tensor{Name: "X", Dims: []int64{s.Get("batch"), 16}}, 16)
		y := n.linear(n.then(ReLU(n.linear(x, 16))), 16)
		n.then(ReLU(n.then(Add(y, x))))
		return n.chain, n.err
	},
}

func blockChain(t *testing.T) Chain {
	t.Helper()
	chain, err := block.Build(block.Shapes(schema.Default)[0], Place{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// fakeWith has kernels of these chains in fp32.
func fakeWith(chains ...string) *fake {
	f := newFake()
	for _, c := range chains {
		f.kernels = append(f.kernels, KernelInfo{Chain: c, DType: schema.FP32, Implementation: "fake"})
	}
	return f
}

// Parts are the longest chains that have a kernel, but none that hides what others read.
func TestParts(t *testing.T) {
	chain := blockChain(t)
	for _, tc := range []struct{ kernels, want []string }{
		{nil, []string{"gemm", "bias", "gemm", "bias", "relu", "gemm", "bias", "add", "relu"}},
		{[]string{"gemm+bias", "bias+relu"}, []string{"gemm+bias", "gemm+bias", "relu", "gemm+bias", "add", "relu"}},
		// The first bias is read by two.
		{[]string{"gemm+bias", "gemm+bias+relu", "gemm+bias+gemm", "gemm+bias+add", "add+relu"}, []string{"gemm+bias", "gemm+bias+relu", "gemm+bias+add", "relu"}},
		{[]string{"gemm+bias+relu+gemm+bias+add+relu"}, []string{"gemm", "bias", "gemm+bias+relu+gemm+bias+add+relu"}},
	} {
		if diff := cmp.Diff(tc.want, block.Parts(chain, schema.FP32, fakeWith(tc.kernels...)).names()); diff != "" {
			t.Errorf("kernels %v: -want +got\n%s", tc.kernels, diff)
		}
	}
	if parts := chains()[0].Parts(chain, schema.FP32, newFake()); parts != nil {
		t.Errorf("what is no network has the parts %v", parts)
	}
}

// Tensors of a network that are in use at the same time lie apart; others share their memory.
func TestStorage(t *testing.T) {
	f := fakeWith("conv2d+batchnorm+relu", "conv2d+batchnorm", "conv2d+batchnorm+add+relu", "gemm+bias", "gemm+bias+add", "qk_t+scale+softmax+pv")
	for _, p := range append(Patterns(), block) {
		if !p.Network() {
			continue
		}
		chain, err := p.Build(p.Shapes(schema.Default)[0], Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := Case{Chain: chain, Parts: p.Parts(chain, schema.FP32, f), DType: schema.FP32}
		s := c.Storage()
		holds := map[int]*Tensor{} // each piece
		for _, in := range chain.Inputs() {
			holds[s.Of[in]] = in
		}
		for i, part := range c.Parts {
			for _, op := range part {
				holds[s.Of[op.Out]] = op.Out
				// One kernel of all of the part may write at any time what it writes, and read what it reads.
				for _, in := range append(part.Inputs(), op.In...) {
					if holds[s.Of[in]] != in {
						t.Errorf("%s, part %d, %s: another tensor lies where it reads %s", p.Name, i, part, in.Name)
					}
				}
			}
		}
		for tensor, piece := range s.Of {
			if size := tensor.Size(schema.FP32); size > s.Bytes[piece] {
				t.Errorf("%s: %s of %d bytes lies in a piece of %d", p.Name, tensor.Name, size, s.Bytes[piece])
			}
		}
		whole := Case{Chain: chain, DType: schema.FP32}
		if shared, own := c.Footprint(), whole.Footprint(); shared >= own || len(s.Of) != len(whole.Storage().Bytes) {
			t.Errorf("%s: %d bytes shared, %d apart", p.Name, shared, own)
		}
	}
}

// A network is compared part by part, and its samples are counted.
func TestNetwork(t *testing.T) {
	f := fakeWith("gemm", "bias", "relu", "add", "gemm+bias", "gemm+bias+relu", "gemm+bias+add")
	c := fakeCalibrator(f, schema.Default)
	if err := c.compareFusion(context.Background(), block, block.Shapes(schema.Default)[0], schema.FP32, way{place: c.all(), cache: schema.Warm}, 1); err != nil {
		t.Fatal(err)
	}
	e := c.Device.FusionProfiles[0]
	if want := []string{"gemm+bias", "gemm+bias+relu", "gemm+bias+add", "relu"}; !slices.Equal(e.Parts, want) {
		t.Errorf("parts %v, want %v", e.Parts, want)
	}
	if ms := 64e3 / e.FusedSamplesPerSecond; math.Abs(ms/e.FusedLatencyMS-1) > 1e-9 {
		t.Errorf("%g samples/s of 64 in %g ms", e.FusedSamplesPerSecond, e.FusedLatencyMS)
	}
	// Of 64x16 fp32: what the three products, two biases hand on is not written and read again.
	if want := int64(2 * 5 * 64 * 16 * 4); e.UnfusedBytes-e.FusedBytes != want {
		t.Errorf("%d bytes are saved, want %d", e.UnfusedBytes-e.FusedBytes, want)
	}
	if e.Verdict != schema.Fuse || !(e.FusedSamplesPerSecond > e.UnfusedSamplesPerSecond) {
		t.Errorf("%+v", e)
	}
}

// A network that is wrong is not timed.
func TestNetworkMismatch(t *testing.T) {
	f, chain := newFake(), blockChain(t)
	f.wrong = chain.String()
	r := Runner{Backend: f, Settings: SettingsOf(schema.Quick), Now: f.Now}
	_, err := r.Compare(context.Background(), Case{
		Chain: chain, Parts: block.Parts(chain, schema.FP32, f), DType: schema.FP32, Place: Place{Threads: 1},
	}, time.Second)
	if !errors.Is(err, ErrMismatch) {
		t.Errorf("%v, want a mismatch", err)
	}
}
