package cuda

import "hwcal/bench"

func init() {
	register("max_pool", entry{provider: own, dtypes: floats, bind: bindMaxPool})
	register("global_average_pool", entry{provider: own, dtypes: floats, bind: bindGlobalAveragePool})
}

// poolThreads is the number of threads of a block, each with one number of the result.
const poolThreads = 128

func bindMaxPool(ws *workspace, c bench.Chain) (*kernel, error) {
	x, y, p := c[0].In[0], c[0].Out, c[0].Params.(bench.PoolParams)
	if err := counted(x.Dims[2]*x.Dims[3], x.Dims[1]); err != nil {
		return nil, err
	}
	args := []Arg{ws.pointer(y), ws.pointer(x), Long(y.Elems())}
	for _, n := range []int64{x.Dims[1], x.Dims[2], x.Dims[3], y.Dims[2], y.Dims[3], p.Size, p.Stride, p.Pad} {
		args = append(args, Int(int(n)))
	}
	return ws.ours("pool", "max_pool", linear(y.Elems(), poolThreads, 1), args...)
}

func bindGlobalAveragePool(ws *workspace, c bench.Chain) (*kernel, error) {
	x, y := c[0].In[0], c[0].Out
	pixels := x.Dims[2] * x.Dims[3]
	if err := counted(x.Dims[2]*x.Dims[3], x.Dims[1]); err != nil {
		return nil, err
	}
	return ws.ours("pool", "global_average_pool", linear(y.Elems(), poolThreads, 1),
		ws.pointer(y), ws.pointer(x), Long(y.Elems()), Int(int(x.Dims[1])), Int(int(pixels)), ws.scalar(1/float64(pixels)))
}
