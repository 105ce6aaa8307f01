package cuda

import (
	"errors"
	"math/bits"
	"strings"

	"hwcal/bench"
)

func init() {
	for _, chain := range []string{"softmax", "causal_softmax", "mask+softmax"} {
		register(chain, entry{provider: own, dtypes: floats, bind: bindSoftmax})
	}
	for _, chain := range []string{"layernorm", "add+layernorm"} {
		register(chain, entry{provider: own, dtypes: floats, bind: bindLayerNorm})
	}
	register("rmsnorm", entry{provider: own, dtypes: floats, bind: bindRMSNorm})
	register("cross_entropy", entry{provider: own, dtypes: floats, bind: bindCrossEntropy})
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		register("reduce_"+string(r)+"_rows", entry{provider: own, dtypes: floats, bind: bindReduceRows})
	}
}

// rowsKernel chooses a kernel of rows.cu for so many rows of n elements: the part of its name that says how many pieces of
// 16 bytes (or elements) a thread keeps, and the grid. A thread keeps no more than leaves the warp busy; short rows share a warp.
func (ws *workspace) rowsKernel(rows, n int64) (size string, g Grid, err error) {
	const warp, most, longest, block = 32, 512, 1024, 128 // threads
	width := int64(16 / ws.dtype.Bytes())                 // of a piece
	size, kept, long := "four", int64(4), "long"
	switch {
	case n%width != 0:
		width, size, kept, long = 1, "single", 16, "long_single"
	case n <= warp*width:
		size, kept = "one", 1
	case n <= 2*warp*width:
		size, kept = "two", 2
	}
	pieces := divideUp(n, width)
	threads := roundUp(divideUp(pieces, kept), warp)
	switch {
	case threads > most:
		size, threads = long, longest
	case pieces < warp:
		threads = 1 << bits.Len64(uint64(pieces-1)) // a power of two
	}
	groups := max(1, block/threads)
	return size, Grid{
		Blocks:  [3]int{int(divideUp(rows, groups))},
		Threads: [3]int{int(threads), int(groups)},
	}, counted(n)
}

// bindSoftmax adds the mask, if there is one, as it reads the scores.
func bindSoftmax(ws *workspace, c bench.Chain) (*kernel, error) {
	x, y := c[0].In[0], c.Output()
	n := y.Dims[len(y.Dims)-1]
	rows := y.Elems() / n
	mask, period, causal := Pointer(0), int64(1), int64(0)
	if c[0].Name == "mask" {
		mask, period = ws.pointer(c[0].In[1]), c[0].In[1].Elems()/n
	}
	if x.Causal {
		causal = x.Dims[len(x.Dims)-2]
	}
	size, grid, err := ws.rowsKernel(rows, n)
	if err = errors.Join(err, counted(period, causal)); err != nil {
		return nil, err
	}
	return ws.ours("rows", "softmax_"+size, grid,
		ws.pointer(y), ws.pointer(x), mask, Long(rows), Int(int(n)), Int(int(period)), Int(int(causal)))
}

// bindLayerNorm adds the other matrix, if there is one, as it reads the first.
func bindLayerNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	norm, y := c[len(c)-1], c.Output()
	n := y.Dims[len(y.Dims)-1]
	rows := y.Elems() / n
	second := Pointer(0)
	if len(c) > 1 {
		second = ws.pointer(c[0].In[1])
	}
	size, grid, err := ws.rowsKernel(rows, n)
	if err != nil {
		return nil, err
	}
	return ws.ours("rows", "layernorm_"+size, grid,
		ws.pointer(y), ws.pointer(c[0].In[0]), second, ws.pointer(norm.In[1]), ws.pointer(norm.In[2]),
		Long(rows), Int(int(n)), ws.scalar(norm.Params.(bench.LayerNormParams).Eps))
}

func bindRMSNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	op, y := c[0], c[0].Out
	n := y.Dims[len(y.Dims)-1]
	rows := y.Elems() / n
	size, grid, err := ws.rowsKernel(rows, n)
	if err != nil {
		return nil, err
	}
	return ws.ours("rows", "rmsnorm_"+size, grid, ws.pointer(y), ws.pointer(op.In[0]), ws.pointer(op.In[1]),
		Long(rows), Int(int(n)), ws.scalar(op.Params.(bench.RMSNormParams).Eps))
}

func bindCrossEntropy(ws *workspace, c bench.Chain) (*kernel, error) {
	op, x := c[0], c[0].In[0]
	size, grid, err := ws.rowsKernel(x.Dims[0], x.Dims[1])
	if err != nil {
		return nil, err
	}
	return ws.ours("rows", "cross_entropy_"+size, grid, ws.pointer(op.Out), ws.pointer(x), ws.pointer(op.In[1]),
		Long(x.Dims[0]), Int(int(x.Dims[1])))
}

func bindReduceRows(ws *workspace, c bench.Chain) (*kernel, error) {
	op, x := c[0], c[0].In[0]
	size, grid, err := ws.rowsKernel(x.Dims[0], x.Dims[1])
	if err != nil {
		return nil, err
	}
	maximum, factor := ws.reduction(op, x.Dims[1])
	return ws.ours("rows", "reduce_rows_"+size, grid, ws.pointer(op.Out), ws.pointer(x),
		Long(x.Dims[0]), Int(int(x.Dims[1])), maximum, factor)
}

// reduction says whether the maximum of n elements is wanted, or what to multiply their sum by.
func (ws *workspace) reduction(op bench.Op, n int64) (maximum, factor Arg) {
	switch {
	case strings.HasPrefix(op.Name, "reduce_max_"):
		return Int(1), ws.scalar(1)
	case strings.HasPrefix(op.Name, "reduce_mean_"):
		return Int(0), ws.scalar(1 / float64(n))
	}
	return Int(0), ws.scalar(1)
}
