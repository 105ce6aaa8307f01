package cuda

import (
	"fmt"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// layout is the order in which the device keeps the elements of a tensor; bench counts
// them in row-major order.
type layout int

const (
	rowMajor layout = iota
	// channelsLast keeps X[n,c,h,w] as [n,h,w,c], filters W[k,c,r,s] as [k,r,s,c] likewise: tensor
	// cores multiply along the channels.
	channelsLast
	// transposed keeps W[k,n] as [n,k], and W[b,k,n] likewise: tensor cores take the right-hand side of types of
	// one byte in this form only.
	transposed
)

// tensor is one in the memory of the device, or of the host.
type tensor struct {
	*bench.Tensor
	address Address
	host    []byte // nil unless it is in page-locked memory of the host
	element element.Element
	layout  layout
	input   bool             // that no kernel writes
	pages   map[int64][]byte // that were downloaded, by their first element
}

// bytes of all elements.
func (t *tensor) bytes() int64 { return t.Elems() * t.element.Bytes }

// matrix is the size of the matrices that the device keeps transposed: of all channels of an image, or of
// the last two dimensions.
func (t *tensor) matrix() (rows, cols int64) {
	if t.layout == channelsLast {
		return t.Dims[1], t.Dims[2] * t.Dims[3]
	}
	return t.Dims[len(t.Dims)-2], t.Dims[len(t.Dims)-1]
}

// at is where the device keeps element i.
func (t *tensor) at(i int64) int64 {
	if t.layout == rowMajor {
		return i
	}
	rows, cols := t.matrix()
	row, col := i/cols%rows, i%cols
	return i/(rows*cols)*(rows*cols) + col*rows + row
}

// layoutOf a tensor in a case: images and filters of convolutions, and what is done to images
// alone, have the channels last.
func layoutOf(c bench.Case, t *bench.Tensor) layout {
	narrow := c.DType == schema.INT8 || c.DType == schema.FP8
	for _, op := range c.Chain {
		switch op.Name {
		case "conv2d", "batchnorm", "channel_bias", "max_pool", "global_average_pool":
			if len(t.Dims) == 4 {
				return channelsLast
			}
		case "gemm", "gemm_batched":
			if narrow && op.In[1] == t {
				return transposed
			}
		}
	}
	return rowMajor
}

// image is the content of a new tensor: its block of random values, again and again.
func (t *tensor) image(block []float64) []byte {
	size, length := t.element.Bytes, int64(len(block))
	once := make([]byte, length*size)
	for i, v := range block {
		t.element.Set(once, int64(i), v)
	}
	mem := make([]byte, t.bytes())
	if t.layout == rowMajor {
		for done := 0; done < len(mem); {
			done += copy(mem[done:], once)
		}
		return mem
	}
	rows, cols := t.matrix()
	rest := mem
	for first := int64(0); first < t.Elems(); first += rows * cols {
		for col := range cols {
			i := (first + col) % length
			for range rows {
				copy(rest[:size], once[i*size:])
				rest = rest[size:]
				i = (i + cols) % length
			}
		}
	}
	return mem
}

// bound refuses an index that is not of the tensor.
func (t *tensor) bound(at, n int64) error {
	if at < 0 || at+n > t.Elems() {
		return fmt.Errorf("cuda: %s[%d:%d] of %d", t.Name, at, at+n, t.Elems())
	}
	return nil
}
