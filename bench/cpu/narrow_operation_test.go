package cpu

import (
	"errors"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// halfOperationShapes are those of single operations, and some without a remainder: rows in
// pairs, and more of them than a block has.
var halfOperationShapes = append([]string{"1x64x64", "2x130x96", "1x700x8"}, chainShapes["operation"]...)

// Every single operation agrees with float64 in the types of 16 bits too.
func TestHalfOperationsAgreeWithReference(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			b := halfBackend(t, isa, d)
			for _, p := range bench.Operations() {
				shapes, own := chainShapes[p.Name]
				if !own {
					shapes = halfOperationShapes
				}
				if p.Group != "operation" || p.Name == "conv2d" {
					continue // see the tests of products and convolutions
				}
				for _, text := range shapes {
					for _, threads := range threadCounts(b) {
						verifyIn(t, b, p.Name, text, d, threads)
					}
				}
			}
		}
	})
}

// A single operation on int8 is right, or unsupported: as those are that have kernels for sums only.
func TestOperationsOnInt8(t *testing.T) {
	b := testBackend(t, "")
	for _, u := range twins() {
		if u.dtype != schema.INT8 {
			continue
		}
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		for _, p := range bench.Operations() {
			shapes, own := chainShapes[p.Name]
			if !own {
				shapes = chainShapes["operation"]
			}
			if p.Group != "operation" {
				continue
			}
			for _, text := range shapes[:2] {
				if _, err := bench.Verify(b, caseOf(t, p.Name, text, u.dtype, 1)); err != nil && !errors.Is(err, bench.ErrUnsupported) {
					t.Errorf("%s %s: %v", p.Name, text, err)
				}
			}
		}
	}
}

// What is said to have a kernel, in whatever type, can be bound. Networks are seen in TestNetworks.
func TestSupportedCanBeBound(t *testing.T) {
	b := testBackend(t, "")
	for _, u := range twins() {
		if len(b.units[u.dtype]) == 0 {
			b.units[u.dtype] = []unit{u}
		}
	}
	for _, p := range slices.Concat(bench.Patterns(), bench.Operations()) {
		text := "65536" // of what measures memory
		if shapes, own := chainShapes[p.Name]; len(shapes) > 0 {
			text = shapes[0]
		} else if shapes := chainShapes[p.Group]; !own && len(shapes) > 0 {
			text = shapes[0]
		}
		for _, d := range schema.DTypes() {
			if units := b.units[d]; p.Network() || p.Name == "peak_fma" && len(units) > 0 && units[0].peak.run == nil {
				continue // a twin has none
			}
			c := caseOf(t, p.Name, text, d, 1)
			if len(p.Lacking(b, d, c.Chain)) > 0 {
				continue
			}
			ws, err := b.Open(c)
			if err != nil {
				t.Errorf("%s %s %s: %v", p.Name, d, text, err)
				continue
			}
			if _, err := ws.Bind(c.Chain); err != nil {
				t.Errorf("%s %s %s: %v", p.Name, d, text, err)
			}
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is moved keeps its bits, those of NaN and of subnormal numbers too.
func TestHalfMovesKeepBits(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := halfBackend(t, isa, schema.BF16)
		heads := map[int64]int64{255: 5, 256: 4, 257: 1}
		for _, dims := range [][]int64{{256, 256}, {258, 255}, {257, 256}, {255, 257}} {
			x, z := &bench.Tensor{Name: "X", Dims: dims}, &bench.Tensor{Name: "Z", Dims: dims}
			index := &bench.Tensor{Name: "I", Dims: []int64{300}, Fill: bench.Labels(dims[0])}
			for _, op := range []bench.Op{bench.Copy(x), bench.Transpose(x), bench.Concat(x, z), bench.Embedding(x, index), bench.SplitHeads(x, 1, heads[dims[1]])} {
				checkBits(t, b, op)
			}
		}
	})
}

// checkBits numbers the elements of what is moved.
func checkBits(t *testing.T, b *Backend, op bench.Op) {
	t.Helper()
	opened, err := b.Open(bench.Case{Chain: bench.Chain{op}, DType: schema.BF16, Place: bench.Place{Threads: len(b.cpus)}, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ws := opened.(*workspace)
	for _, in := range op.In {
		if in.Fill.Classes() == 0 {
			for i, to := 0, halves(ws, in); i < len(to); i++ {
				to[i] = uint16(i)
			}
		}
	}
	k, err := ws.Bind(bench.Chain{op})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Sample(ws, []bench.Kernel{k}, 1); err != nil {
		t.Fatal(err)
	}
	n, dims := widthOf(op.In[0]), op.In[0].Dims
	for at, got := range halves(ws, op.Out) {
		i, j := at/widthOf(op.Out), at%widthOf(op.Out)
		switch op.Name {
		case "transpose":
			i, j = j, i
		case "concat":
			j %= n
		case "permute": // an image of [heads,d] for each row
			d := widthOf(op.Out)
			row := at / d
			i, j = row%int(dims[0]), row/int(dims[0])*d+at%d
		case "embedding":
			i = int(as[int32](ws.bytes(op.In[1]))[i])
		}
		if want := uint16(i*n + j); got != want {
			t.Fatalf("%s %v: [%d] = %#04x, want %#04x", op.Name, op.In[0].Dims, at, got, want)
		}
	}
}
