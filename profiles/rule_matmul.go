package profiles

import "fmt"

// matmulDims are the dimensions of each operation that multiplies matrices; a
// batch comes first.
var matmulDims = map[string]int{matmul: 3, "matmul_packed": 3, "matmul_batched": 4}

// checkMatmulShape: flops = 2mnk (times the batch), so that the entries of a curve
// can be placed by their input_shape.
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
			want := 2.0 // not an integer: a hostile shape would overflow it
			for _, n := range e.InputShape {
				want *= float64(n)
			}
			if float64(e.FLOP) != want {
				c.differ(path+"/flops", float64(e.FLOP), want, "flops = 2 x product of input_shape")
			}
		}
	}
}
