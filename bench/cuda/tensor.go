package cuda

import (
	"fmt"
	"runtime"
	"sync"

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
	input   bool     // that no kernel writes
	pages   [][]byte // of pageElems, nil until they are downloaded
}

// bytes of all elements.
func (t *tensor) bytes() int64 { return t.Elems() * t.element.Bytes }

// matrix is the size of the matrices whose transposes the device keeps: [channels, pixels] of an image, or the
// last two dimensions.
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

// image is the content of a new tensor as the device keeps it: the block of random values, repeated. All CPUs write
// it, as some tensors have a hundred million elements.
func (t *tensor) image(block []float64) []byte {
	size, length := t.element.Bytes, int64(len(block))
	once := make([]byte, length*size)
	for i, v := range block {
		t.element.Set(once, int64(i), v)
	}
	mem := make([]byte, t.bytes())
	// Elements of a run are neighbours in memory, and `apart` elements apart in the order of bench.
	run, apart := min(t.Elems(), imageRun), int64(1)
	begin := func(r int64) int64 { return r * run }
	if t.layout != rowMajor {
		rows, cols := t.matrix()
		run, apart = rows, cols
		begin = func(r int64) int64 { return r/cols*rows*cols + r%cols }
	}
	inParallel(divideUp(t.Elems(), run), func(first, end int64) {
		for r := first; r < end; r++ {
			rest := mem[r*run*size : min((r+1)*run*size, int64(len(mem)))]
			i := begin(r) % length
			for len(rest) > 0 {
				if apart == 1 {
					n := copy(rest, once[i*size:])
					rest, i = rest[n:], 0
					continue
				}
				copy(rest[:size], once[i*size:])
				rest, i = rest[size:], (i+apart)%length
			}
		}
	})
	return mem
}

// imageRun is the number of elements that are written together where they follow each other in the order of bench.
const imageRun = 1 << 20

// inParallel cuts [0, n) into a part for each CPU.
func inParallel(n int64, part func(first, end int64)) {
	parts := min(n, int64(runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { part(n*p/parts, n*(p+1)/parts) })
	}
	wg.Wait()
}

// bound refuses an index that is not of the tensor.
func (t *tensor) bound(at, n int64) error {
	if at < 0 || at+n > t.Elems() {
		return fmt.Errorf("cuda: %s[%d:%d] of %d", t.Name, at, at+n, t.Elems())
	}
	return nil
}
