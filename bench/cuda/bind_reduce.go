package cuda

import "hwcal/bench"

func init() {
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		register("reduce_"+string(r)+"_cols", entry{provider: own, dtypes: floats, bind: bindReduceCols})
	}
	register("mse", entry{provider: own, dtypes: floats, bind: bindMSE})
}

// bindReduceCols cuts the rows into so many parts that all SMs have work.
func bindReduceCols(ws *workspace, c bench.Chain) (*kernel, error) {
	const across, groups = 32, 8 // threads of a block
	const perSM = 4              // blocks, which keep the memory busy
	op, x := c[0], c[0].In[0]
	m, n := x.Dims[0], x.Dims[1]
	name, columns := "reduce_cols", int64(ws.vector(x))
	if n%columns != 0 {
		name, columns = "reduce_cols_single", 1
	}
	blocks := divideUp(n, across*columns)
	parts := max(1, min(divideUp(int64(ws.backend.sms)*perSM, blocks), m/groups, 65535))
	maximum, factor := ws.reduction(op, m)
	threads := [3]int{across, groups}
	return ws.inTwo("reduce", parts*n,
		step{name, Grid{Blocks: [3]int{int(blocks), int(parts)}, Threads: threads},
			[]Arg{ws.pointer(x), Long(m), Int(int(n)), maximum}},
		step{"finish_cols", Grid{Blocks: [3]int{int(divideUp(n, across))}, Threads: threads},
			[]Arg{Int(int(parts)), Int(int(n)), maximum, factor}}, op.Out)
}

func bindMSE(ws *workspace, c bench.Chain) (*kernel, error) {
	const threads, each = 256, 4 // vectors of a thread: `each` in squared_error
	op, x := c[0], c[0].In[0]
	grid := linear(x.Elems(), threads, each*ws.vector(x))
	return ws.inTwo("reduce", int64(grid.Blocks[0]),
		step{"squared_error", grid, []Arg{ws.pointer(x), ws.pointer(op.In[1]), Long(x.Elems())}},
		step{"finish_sum", Grid{Threads: [3]int{threads}}, []Arg{Int(grid.Blocks[0]), ws.scalar(1 / float64(x.Elems()))}}, op.Out)
}

// step is a kernel with its arguments, but for the tensors between the steps.
type step struct {
	function string
	grid     Grid
	args     []Arg
}

// inTwo is a kernel of two steps: the first writes numbers of the type that is computed in, which the
// second reads and makes the output of.
func (ws *workspace) inTwo(source string, numbers int64, first, second step, out *bench.Tensor) (*kernel, error) {
	between, err := ws.alloc(8 * numbers)
	if err != nil {
		return nil, err
	}
	one, err := ws.ours(source, first.function, first.grid, append([]Arg{Pointer(between)}, first.args...)...)
	if err != nil {
		return nil, err
	}
	two, err := ws.ours(source, second.function, second.grid, append([]Arg{ws.pointer(out), Pointer(between)}, second.args...)...)
	if err != nil {
		return nil, err
	}
	return &kernel{name: one.name, enqueue: func() error {
		if err := one.enqueue(); err != nil {
			return err
		}
		return two.enqueue()
	}}, nil
}
