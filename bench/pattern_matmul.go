package bench

import "hwcal/schema"

func init() {
	names := []string{"m", "n", "k"}
	Register(Pattern{
		Name:  "matmul",
		Group: "compute",
		Doc:   "Y[m,n] = X[m,k] W[k,n]",
		Dims:  names,
		Shapes: func(mode schema.Mode) []Shape {
			if mode == schema.Quick {
				return []Shape{dims(names, 1024, 1024, 1024)}
			}
			shapes := []Shape{dims(names, 256, 256, 256), dims(names, 512, 1024, 1024), dims(names, 1024, 1024, 1024), dims(names, 2048, 2048, 2048)}
			if mode == schema.Full {
				shapes = append(shapes, dims(names, 4096, 4096, 4096), dims(names, 32, 4096, 4096), dims(names, 1000, 999, 1001))
			}
			return shapes
		},
		Chain: func(s Shape, _ int64) (Chain, error) {
			x, w := linearInputs(s)
			return Chain{Gemm(x, w)}, nil
		},
	})
}
