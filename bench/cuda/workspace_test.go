//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// copying is a device that counts the copies from the host.
type copying struct {
	planned
	uploads int
}

func (c *copying) Upload(Address, []byte) error {
	c.uploads++
	return nil
}

// What is poisoned takes a copy of each page, not of each element: neighbours of an image lie apart.
func TestPoisonByPages(t *testing.T) {
	device := &copying{planned: planned{capability: Capability{8, 0}, units: map[Unit]bool{}}}
	b := must[*Backend](t)(New(device, &device.planned, nil))
	image := &bench.Tensor{Name: "X", Dims: []int64{1, 64, 32, 32}}
	c := bench.Chain{bench.ChannelBias(image, &bench.Tensor{Name: "b", Dims: []int64{64}})}
	ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.BF16, Seed: 1}))
	row := make([]int64, 32*32)
	for i := range row {
		row[i] = int64(i)
	}
	device.uploads = 0
	check(t, ws.Poison(c.Output(), row))
	if pages := image.Elems() / pageElems; device.uploads != int(pages) {
		t.Errorf("%d copies for %d pages", device.uploads, pages)
	}
}

// Rows that the kernels cannot count are refused, not cut.
func TestCounted(t *testing.T) {
	if err := counted(0, mostCounted); err != nil {
		t.Error(err)
	}
	for _, n := range []int64{mostCounted + 1, 1 << 32} {
		if err := counted(1, n); !errors.Is(err, bench.ErrUnsupported) {
			t.Errorf("%d: %v", n, err)
		}
	}
	b := newEmulated(t, Capability{8, 0})
	ws := &workspace{backend: b, context: b.context}
	ws.dtype = schema.BF16
	if _, _, err := ws.rowsKernel(1, 1<<32); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("a row of 2^32: %v", err)
	}
	if _, _, err := ws.rowMoves(1, 8, 1<<32); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("a copy of 2^32: %v", err)
	}
	const half = 1 << 30
	causal := matrix("scores", 1, 1<<31)
	causal.Causal = true
	scale := &bench.Tensor{Name: "scale", Dims: []int64{1 << 31}, Param: true, Factors: true}
	mask := bench.Mask(matrix("X", 1<<31, 1), matrix("M", 1<<31, 1))
	for _, c := range []bench.Chain{
		{bench.Concat(matrix("X", 1, half), matrix("Z", 1, half))}, // of which each can be counted
		{bench.Bias(matrix("X", 1, 1<<31), param("b", 1<<31))},
		{bench.ChannelBias(matrix("X", 1, 1<<31, 1, 1), param("b", 1<<31))},
		{bench.Scale(causal, 0.5)},
		{bench.Requantize(sums(matrix("X", 1, 1<<31)), scale, 1)},
		{mask, bench.Softmax(mask.Out)},
	} {
		ws.tensors = map[*bench.Tensor]*tensor{}
		for _, x := range c.Tensors() {
			ws.tensors[x] = &tensor{Tensor: x, element: element.OfTensor(x, ws.dtype), layout: layoutOf(bench.Case{Chain: c}, x)}
		}
		for _, e := range entries[c.String()] {
			if e.provider != own {
				continue
			}
			if _, err := e.bind(ws, c); !errors.Is(err, bench.ErrUnsupported) {
				t.Errorf("%s of %v: %v", c, c[0].In[0].Dims, err)
			}
		}
	}
	if _, err := attentionOf(attentionChain(t, "Decode_Attention", 1, 1, 1, 1<<31, 64)); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("2^31 keys: %v", err)
	}
}

// A launch has a limited number of blocks along y: the passes that are more take turns.
func TestManyPasses(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	i := slices.IndexFunc(bench.Streams, func(s bench.Stream) bool { return s.Name == "write" })
	op := bench.Streams[i].Op(bench.NewStreamArrays(1, 1))
	p := op.Params.(bench.StreamParams)
	p.Passes = mostGridY + 2
	op.Params = p
	verifyKernels(t, b, []schema.DType{schema.FP64}, bench.Chain{op})
}
