package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// A new tensor repeats its block in the order of bench, whatever the order in which the device keeps it.
func TestImage(t *testing.T) {
	tests := map[string]struct {
		dims   []int64
		layout layout
	}{
		"rows, in several runs": {[]int64{2*imageRun + 3}, rowMajor},
		"channels last":         {[]int64{3, 65, 29, 31}, channelsLast},
		"of one pixel":          {[]int64{5, 33000, 1, 1}, channelsLast},
		"transposed":            {[]int64{3, 300, 171}, transposed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := &bench.Tensor{Name: "X", Dims: test.dims}
			own := &tensor{Tensor: of, element: element.OfTensor(of, schema.FP64), layout: test.layout}
			block := of.Fill.Block(1, 0, of.Elems())
			mem := own.image(block)
			for i := range of.Elems() {
				if got, want := own.element.Get(mem, own.at(i)), block[i%int64(len(block))]; got != want {
					t.Fatalf("element %d is %g, want %g", i, got, want)
				}
			}
		})
	}
}
