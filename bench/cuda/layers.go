package cuda

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	register("gemm+silu+gemm+mul", entry{provider: own, dtypes: floats, least: tensorCores, bind: bindSwiGLU})
	register("gemm+bias+gelu+gemm", entry{provider: own, dtypes: floats, least: tensorCores, bind: bindMLP})
	register("gemm+layernorm", entry{provider: own, dtypes: floats, least: tensorCores, bind: bindGemmLayerNorm})
}

// layer is a kernel of kernels/layers.cu, or of layers_gemv.cu if it is skinny. g is the grain of its first
// product; aligned says whether all operands are.
func (ws *workspace) layer(name string, g grain, blocks int64, aligned bool, args ...[]Arg) (*kernel, error) {
	source := "layers"
	if g.skinny {
		source = "layers_gemv"
	}
	grid := Grid{Blocks: [3]int{int(blocks)}, Threads: [3]int{g.threads}, Shared: int(g.shared)}
	return ws.ours(source, g.function(name, aligned), grid, join(args...)...)
}

// staying is the number of persistent blocks that take n units of work from a queue.
func (ws *workspace) staying(n int64) int64 {
	const resident = 4 // of an SM, at most; more wait for their turn
	return min(n, int64(ws.backend.sms)*resident)
}

// padding is what the length of rows between two phases is a multiple of, in elements: each row begins with
// a cache line.
const padding = 128

// bindSwiGLU is for SiLU(X W) * (X V).
func bindSwiGLU(ws *workspace, c bench.Chain) (*kernel, error) {
	x, w, v := c[0].In[0], c[0].In[1], c[2].In[1]
	if c[2].In[0] != x || c[3].In[0] != c[1].Out || c[3].In[1] != c[2].Out {
		return nil, fmt.Errorf("a gate of other operands: %w", bench.ErrUnsupported)
	}
	p := ws.gemmShapeOf(x, w)
	p.operands = 2
	return ws.byTrial("layers", p, func(g grain) (*kernel, error) {
		scratch, err := ws.scratch(cut{p, g})
		if err != nil {
			return nil, err
		}
		return ws.layer("swiglu", g, g.blocks(p)*g.splits, ws.aligned(p.k, p.n),
			[]Arg{ws.pointer(x), ws.pointer(w), ws.pointer(v), ws.pointer(c.Output())}, p.dims(), []Arg{Int(int(g.splits))}, scratch)
	})
}

// bindMLP is for GELU(X W + b) W2.
func bindMLP(ws *workspace, c bench.Chain) (*kernel, error) {
	x, w, w2 := c[0].In[0], c[0].In[1], c[3].In[1]
	if c[3].In[0] != c[2].Out {
		return nil, fmt.Errorf("a second product of something else: %w", bench.ErrUnsupported)
	}
	e, err := ws.epilogueOf(c[0], nil, c[1:3])
	if err != nil {
		return nil, err
	}
	first := ws.gemmShapeOf(x, w)
	if w2.Dims[1] != first.k {
		return nil, fmt.Errorf("a second product that is %d wide, not %d as the input: %w", w2.Dims[1], first.k, bench.ErrUnsupported)
	}
	second := first
	second.n, second.k = first.k, first.n
	bias, err := ws.columns(e.plus, e.of, "added to sums")
	if err != nil {
		return nil, err
	}
	width := padded(first.n, padding)
	between, err := ws.zeroed(first.m * width * ws.dtype.Bytes())
	if err != nil {
		return nil, err
	}
	return ws.byTrial("layers", first, func(g grain) (*kernel, error) {
		g2 := g
		g2.splits = ws.splits(second, g)
		scratch, err := ws.scratch(cut{first, g}, cut{second, g2})
		if err != nil {
			return nil, err
		}
		counters, err := ws.counters(g, first)
		if err != nil {
			return nil, err
		}
		units := g.blocks(first)*g.splits + g.blocks(second)*g2.splits
		return ws.layer("mlp", g, ws.staying(units), ws.aligned(first.k, first.n),
			[]Arg{ws.pointer(x), ws.pointer(w), Pointer(bias), Int(e.activation), ws.pointer(w2), ws.pointer(c.Output())}, first.dims(),
			[]Arg{Pointer(between), Int(int(width)), Int(int(g.splits)), Int(int(g2.splits))}, scratch, counters)
	})
}

// bindGemmLayerNorm is for the layer norm of X W.
func bindGemmLayerNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	x, w, norm := c[0].In[0], c[0].In[1], c[1]
	p := ws.gemmShapeOf(x, w)
	width := padded(p.n, padding)
	between, err := ws.zeroed(p.m * width * ws.dtype.Bytes())
	if err != nil {
		return nil, err
	}
	eps := norm.Params.(bench.LayerNormParams).Eps
	return ws.byTrial("layers", p, func(g grain) (*kernel, error) {
		scratch, err := ws.scratch(cut{p, g})
		if err != nil {
			return nil, err
		}
		counters, err := ws.counters(g, p)
		if err != nil {
			return nil, err
		}
		return ws.layer("gemm_layernorm", g, ws.staying(g.blocks(p)*g.splits), ws.aligned(p.k, p.n),
			[]Arg{ws.pointer(x), ws.pointer(w), ws.pointer(norm.In[1]), ws.pointer(norm.In[2]), ws.scalar(eps), ws.pointer(norm.Out)}, p.dims(),
			[]Arg{Pointer(between), Int(int(width)), Int(int(g.splits))}, scratch, counters)
	})
}

// counters are those of kernels/queue.cuh, for as many groups as there are bands of rows.
func (ws *workspace) counters(g grain, p gemmShape) ([]Arg, error) {
	a, err := ws.zeroed((2 + g.bands(p.m)) * 4)
	return []Arg{Pointer(a)}, err
}
