package cuda

import (
	"errors"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	register("transpose", entry{provider: own, dtypes: floats, bind: bindTranspose})
	register("concat", entry{provider: own, dtypes: floats, bind: bindConcat})
	register("permute", entry{provider: own, dtypes: floats, bind: bindPermute})
	register("embedding", entry{provider: own, dtypes: floats, bind: bindEmbedding})
}

func bindTranspose(ws *workspace, c bench.Chain) (*kernel, error) {
	const threads = 256 // as in moves.cu
	side := int64(64)
	if ws.dtype == schema.FP64 {
		side = 32
	}
	x := c[0].In[0]
	m, n, name := x.Dims[0], x.Dims[1], "transpose"
	if err := counted(m, n); err != nil {
		return nil, err
	}
	if vector := int64(ws.vector(x)); m%vector != 0 || n%vector != 0 {
		name = "transpose_single"
	}
	return ws.ours("moves", name, Grid{Blocks: [3]int{int(divideUp(m, side) * divideUp(n, side))}, Threads: [3]int{threads}},
		ws.pointer(c[0].Out), ws.pointer(x), Int(int(m)), Int(int(n)))
}

func bindConcat(ws *workspace, c bench.Chain) (*kernel, error) {
	x, z := c[0].In[0], c[0].In[1]
	rows, n, k := x.Dims[0], x.Dims[1], z.Dims[1]
	grid, vectors, err := ws.rowMoves(rows, n, k)
	if err = errors.Join(err, counted(n+k)); err != nil {
		return nil, err
	}
	return ws.ours("moves", "concat", grid,
		ws.pointer(c[0].Out), ws.pointer(x), ws.pointer(z), Long(rows), Int(int(n)), Int(int(k)), vectors)
}

func bindPermute(ws *workspace, c bench.Chain) (*kernel, error) {
	s := c[0].Params.(bench.PermuteParams)
	rows := s.Outer * s.P * s.Q
	grid, vectors, err := ws.rowMoves(rows, s.D)
	if err = errors.Join(err, counted(s.P, s.Q)); err != nil {
		return nil, err
	}
	return ws.ours("moves", "permute", grid,
		ws.pointer(c[0].Out), ws.pointer(c[0].In[0]), Long(rows), Int(int(s.P)), Int(int(s.Q)), Int(int(s.D)), vectors)
}

func bindEmbedding(ws *workspace, c bench.Chain) (*kernel, error) {
	table, indices := c[0].In[0], c[0].In[1]
	rows, n := indices.Elems(), table.Dims[1]
	grid, vectors, err := ws.rowMoves(rows, n)
	if err != nil {
		return nil, err
	}
	return ws.ours("moves", "embedding", grid,
		ws.pointer(c[0].Out), ws.pointer(table), ws.pointer(indices), Long(rows), Int(int(n)), vectors)
}

// rowMoves is a grid with a group of threads for each row, about one thread for each 16 bytes of the widest, and an
// argument that says whether all widths allow accesses of 16 bytes.
func (ws *workspace) rowMoves(rows int64, widths ...int64) (Grid, Arg, error) {
	const block = 256
	vector, vectors, widest := 16/ws.dtype.Bytes(), 1, int64(0)
	for _, n := range widths {
		widest = max(widest, n)
		if n%vector != 0 {
			vectors = 0
		}
	}
	threads := int64(1)
	for threads < min(divideUp(widest, vector), block) {
		threads *= 2
	}
	groups := block / threads
	return Grid{Blocks: [3]int{int(divideUp(rows, groups))}, Threads: [3]int{int(threads), int(groups)}}, Int(vectors), counted(widths...)
}
