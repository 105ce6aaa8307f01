package bench

import "hwcal/schema"

// The n of the n x n x n that make the curve of GFLOPS over size: powers of two and
// numbers half way between. A run of the default mode has no time for the last but
// one, and for those that are packed before, which costs little there, no further
// than 1024.
var (
	quickSizes   = []int64{32, 64, 128, 256, 512, 1024}
	smallSizes   = []int64{32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}
	defaultSizes = append(smallSizes[:len(smallSizes):len(smallSizes)], 1536, 2048, 4096)
	fullSizes    = append(smallSizes[:len(smallSizes):len(smallSizes)], 1536, 2048, 3072, 4096)
)

// square is the shape m = n = k.
func square(n int64) Shape { return dims(linearDims, n, n, n) }

func squares(sizes []int64) []Shape {
	shapes := make([]Shape, len(sizes))
	for i, n := range sizes {
		shapes[i] = square(n)
	}
	return shapes
}

// deviceSize is the n of the n x n x n by which GPUs are compared.
const deviceSize = 8192

// deviceShapes are products that fill a GPU.
func deviceShapes(mode schema.Mode) []Shape {
	sizes := []int64{deviceSize}
	if mode != schema.Quick {
		sizes = append(sizes, deviceSize/2)
	}
	return squares(sizes)
}

// decodeShapes are few rows against wide weights, down to a vector.
func decodeShapes() []Shape {
	return []Shape{dims(linearDims, 32, 4096, 4096), dims(linearDims, 8, 4096, 4096), dims(linearDims, 1, 4096, 4096)}
}

// otherShapes are a layer of moderate size, a tall product with a narrow result,
// and sizes that fit no tile.
func otherShapes() []Shape {
	return append(decodeShapes(),
		dims(linearDims, 512, 1024, 1024), dims(linearDims, 4096, 32, 4096), square(1023), dims(linearDims, 1000, 999, 1001))
}

func matmulShapes(mode schema.Mode) []Shape {
	switch mode {
	case schema.Quick:
		return squares(quickSizes)
	case schema.Full:
		return append(squares(fullSizes), otherShapes()...)
	}
	return append(squares(defaultSizes), otherShapes()...)
}

func packedShapes(mode schema.Mode) []Shape {
	if mode == schema.Default {
		return append(squares(smallSizes), decodeShapes()...)
	}
	return matmulShapes(mode)
}

// batchedDims: X[batch,m,k], W[batch,k,n].
var batchedDims = []string{"batch", "m", "n", "k"}

// batchedShapes are products too small to be shared among threads.
func batchedShapes(mode schema.Mode) []Shape {
	shapes := []Shape{dims(batchedDims, 64, 64, 64, 64)}
	if mode != schema.Quick {
		shapes = append(shapes,
			dims(batchedDims, 64, 32, 32, 32),
			dims(batchedDims, 64, 128, 128, 128),
			dims(batchedDims, 256, 16, 16, 16))
	}
	return shapes
}

// matmuls are the patterns of matrix multiplication.
var matmuls = []Pattern{
	{
		Name: "matmul", Doc: "Y[m,n] = X[m,k] W[k,n], all packing within the time",
		Dims: linearDims, Shapes: matmulShapes, Throughput: deviceShapes, Chain: matmul(false),
	},
	{
		Name: "matmul_packed", Doc: "Y[m,n] = X[m,k] W[k,n], W packed before, as in inference",
		Dims: linearDims, Shapes: packedShapes, Chain: matmul(true),
	},
	{
		Name: "matmul_batched", Doc: "Y[b,m,n] = X[b,m,k] W[b,k,n] for each b of the batch",
		Dims: batchedDims, Shapes: batchedShapes,
		Chain: func(s Shape, _ int64) (Chain, error) {
			b, m, n, k := s.Get("batch"), s.Get("m"), s.Get("n"), s.Get("k")
			return Chain{Sums(BatchedGemm(&Tensor{Name: "X", Dims: []int64{b, m, k}}, &Tensor{Name: "W", Dims: []int64{b, k, n}}))}, nil
		},
	},
}

// matmul has weights that are known before the run, or not.
func matmul(param bool) func(Shape, int64) (Chain, error) {
	return func(s Shape, _ int64) (Chain, error) {
		x, w := linearInputs(s)
		w.Param = param
		return Chain{Sums(Gemm(x, w))}, nil
	}
}

func init() {
	for _, p := range matmuls {
		p.Group = "compute"
		register(p)
	}
}
