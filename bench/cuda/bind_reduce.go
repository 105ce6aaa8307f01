package cuda

import "hwcal/bench"

func init() {
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		register("reduce_"+string(r)+"_cols", entry{provider: own, dtypes: floats, bind: bindReduceCols})
	}
	register("mse", entry{provider: own, dtypes: floats, bind: bindMSE})
}

// bindReduceCols cuts the rows into as many parts as run at the same time.
func bindReduceCols(ws *workspace, c bench.Chain) (*kernel, error) {
	const across, groups = 32, 16 // threads of a block
	const perSM = 2               // blocks
	op, x := c[0], c[0].In[0]
	m, n := x.Dims[0], x.Dims[1]
	if err := counted(n); err != nil {
		return nil, err
	}
	name, columns := "reduce_cols", int64(ws.vector(x))
	if n%columns != 0 {
		name, columns = "reduce_cols_single", 1
	}
	blocks := divideUp(n, across*columns)
	shares := max(1, min(int64(ws.backend.sms)*perSM/blocks, m/groups, mostGridY))
	parts, err := ws.ofParts(shares*n, blocks)
	if err != nil {
		return nil, err
	}
	maximum, factor := ws.reduction(op, m)
	return ws.ours("reduce", name, Grid{Blocks: [3]int{int(blocks), int(shares)}, Threads: [3]int{across, groups}},
		append(parts, ws.pointer(op.Out), ws.pointer(x), Long(m), Int(int(n)), maximum, factor)...)
}

func bindMSE(ws *workspace, c bench.Chain) (*kernel, error) {
	const threads, each = 256, 4 // vectors of a thread at a time: `each` in squared_error
	const perSM = 8              // blocks that run at the same time
	op, x := c[0], c[0].In[0]
	grid := linear(x.Elems(), threads, each*ws.vector(x))
	grid.Blocks[0] = min(grid.Blocks[0], perSM*ws.backend.sms)
	parts, err := ws.ofParts(int64(grid.Blocks[0]), 1)
	if err != nil {
		return nil, err
	}
	return ws.ours("reduce", "squared_error", grid, append(parts,
		ws.pointer(op.Out), ws.pointer(x), ws.pointer(op.In[1]), Long(x.Elems()), ws.scalar(1/float64(x.Elems())))...)
}

// ofParts are the arguments partial and arrived of a reduction: memory for so many partial results, in the type of
// sums, and for so many counters, which are 0.
func (ws *workspace) ofParts(numbers, counters int64) ([]Arg, error) {
	partial, err := ws.alloc(numbers * sum(ws.dtype).Bytes)
	if err != nil {
		return nil, err
	}
	arrived, err := ws.zeroed(4 * counters)
	return []Arg{Pointer(partial), Pointer(arrived)}, err
}
