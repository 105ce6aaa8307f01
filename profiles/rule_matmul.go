package profiles

import "fmt"

// matmulDims are the dimensions of each operation that multiplies matrices; a
// batch comes first.
var matmulDims = map[string]int{matmul: 3, "matmul_packed": 3, "matmul_batched": 4}

// checkMatmulShape: flops = 2mnk (times the batch), so that the entries of a curve
// can be placed by their input_shape, and bytes those of both factors in the type and of the sums in the
// type of sums.
func checkMatmulShape(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			dims := matmulDims[e.Operation]
			if dims == 0 || e.InputShape == nil {
				continue
			}
			if len(e.InputShape) != dims {
				c.fail(path+"/input_shape", "wrong number of dimensions of "+e.Operation,
					fmt.Sprint(len(e.InputShape)), fmt.Sprint(dims))
				continue
			}
			// Not integers: a hostile shape would overflow them.
			batch, shape := 1.0, make([]float64, dims)
			for i, n := range e.InputShape {
				shape[i] = float64(n)
			}
			if dims == 4 {
				batch, shape = shape[0], shape[1:]
			}
			m, n, k := shape[0], shape[1], shape[2]
			if want := 2 * batch * m * n * k; float64(e.FLOP) != want {
				c.differ(path+"/flops", float64(e.FLOP), want, "flops = 2 x product of input_shape")
			}
			if want := batch * (float64(e.DType.Bytes())*(m*k+k*n) + float64(e.DType.SumBytes())*m*n); float64(e.Bytes) != want {
				c.differ(path+"/bytes", float64(e.Bytes), want, "bytes = those of m k + k n elements and m n sums")
			}
		}
	}
}
