package cuda

import (
	"fmt"
	"math"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// gemmShape is of Y[batch,m,n] = X[batch,m,k] W[batch,k,n], as the kernels of kernels/tile.cuh
// and gemv.cu compute it.
type gemmShape struct {
	batch, m, n, k int64
	// operands is the number of matrices W, side by side, by which one kernel multiplies X.
	operands int64
	// byRows has W as [n,k].
	byRows bool
	// channels of a convolution: elements along k are contiguous in X in runs of so many. 0 where all are.
	channels int64
}

// skinnyRows is the largest m for which the vector units multiply: reading W takes longer than that.
const skinnyRows = 8

// grain is how a product is cut into blocks.
type grain struct {
	kernel       string // of the name of the function: "192x256", "128x128", or the rows of X
	skinny       bool
	wide         bool  // of kernels/wide.cuh, which does not split k
	down, across int64 // rows and columns of Y of a block
	sums         int64 // accumulators of a block
	resident     int64 // blocks that an SM should have
	splits       int64 // slices of k
	threads      int
	shared       int64 // bytes
}

// The step along k, in bytes, and the stages of the pipeline of kernels/tile.cuh.
const (
	stepBytes = 64
	stages    = 4
	// leastSteps of one slice, so that what it costs to add slices is small.
	leastSteps = 8
	mostSplits = 32
)

// grainsOf are the grains to try for a product of a source: the wide ones if there are any; else that of gemv.cu for few
// rows; else large tiles if there are enough for all SMs, or small ones.
func (ws *workspace) grainsOf(source string, p gemmShape) []grain {
	if wide := ws.wide(source, p); wide != nil {
		return wide
	}
	size, sum := ws.dtype.Bytes(), sum(ws.dtype).Bytes
	g := ws.square(p, 128)
	if g.blocks(p) < int64(ws.backend.sms) {
		g = ws.square(p, 64)
	}
	if p.m <= skinnyRows && p.channels == 0 {
		rows := int64(1)
		for _, r := range []int64{1, 4, skinnyRows} {
			rows = r
			if r >= p.m {
				break
			}
		}
		band := int64(16 * 16 / size)
		parts := int64(8)
		if p.byRows {
			band, parts = 128, 1
		}
		// X on its way in and the parts of sums on their way out.
		g = grain{
			kernel: fmt.Sprint(rows), skinny: true, down: rows, across: band / p.operands,
			sums: rows * band, resident: 4, threads: 256,
			shared: max(rows*256, parts*rows*band) * sum,
		}
	}
	g.splits = ws.splits(p, g)
	return []grain{g}
}

// byTrial is the fastest of the kernels that bind makes of the grains of a product.
func (ws *workspace) byTrial(source string, p gemmShape, bind func(grain) (*kernel, error)) (*kernel, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	var kernels []*kernel
	for _, g := range ws.grainsOf(source, p) {
		k, err := bind(g)
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, k)
	}
	return ws.fastestOf(kernels...)
}

// wide are the grains of kernels/wide.cuh, if the device has its instructions, the operands are aligned, and there are
// tiles for three quarters of the SMs. The larger tile reads less from L2; the smaller one leaves fewer SMs idle in the
// last wave.
func (ws *workspace) wide(source string, p gemmShape) []grain {
	const across, step = 256, 128
	aligned := ws.aligned(p.k) && (p.byRows || ws.aligned(p.n))
	if ws.backend.capability != hopper || !slices.Contains(wideTypes, ws.dtype) || !aligned || p.channels > 0 || p.m <= skinnyRows {
		return nil
	}
	var grains []grain
	for _, down := range []int64{128, 192} {
		g := grain{
			kernel: fmt.Sprintf("%dx%d", down, across), wide: true, down: down, across: across / p.operands, sums: down * across,
			resident: 1, splits: 1, threads: int(2 * down), shared: stages * (down + across) * step,
		}
		if 4*g.blocks(p) < 3*int64(ws.backend.sms) {
			break
		}
		// A compiler that does not know the device makes code for older ones, which lacks these kernels.
		if _, err := ws.backend.function(Unit{source, ws.dtype}, g.function(wideKernels[source], true)); err != nil {
			break
		}
		grains = append(grains, g)
	}
	return grains
}

// hopper is the only capability with the instructions of kernels/wgmma.cuh.
var hopper = Capability{9, 0}

// wideTypes are the types of kernels/wide.cuh; wideKernels is one kernel of each source that includes it, to look for.
var (
	wideTypes   = []schema.DType{schema.BF16, schema.FP16, schema.INT8}
	wideKernels = map[string]string{"gemm": "gemm", "layers": "mlp"}
)

// splits are as many slices of k as bring a few blocks to each SM.
func (ws *workspace) splits(p gemmShape, g grain) int64 {
	if g.wide {
		return 1
	}
	steps := padded(p.k*ws.dtype.Bytes(), stepBytes) / stepBytes
	return max(1, min(g.resident*int64(ws.backend.sms)/g.blocks(p), steps/leastSteps, mostSplits))
}

// square is the grain of square tiles.
func (ws *workspace) square(p gemmShape, side int64) grain {
	sum := sum(ws.dtype).Bytes
	warps := side / 16
	return grain{
		kernel: fmt.Sprintf("%dx%d", side, side), down: side, across: side / p.operands,
		sums: side * side, resident: 128 / side, threads: int(2 * side),
		shared: max(stages*2*side*stepBytes, warps*32*(32+32/sum)*sum),
	}
}

// blocks is the number of them, slices aside.
func (g grain) blocks(p gemmShape) int64 {
	return p.batch * g.bands(p.m) * ((p.n + g.across - 1) / g.across)
}

// bands is the number of blocks below each other for m rows.
func (g grain) bands(m int64) int64 { return (m + g.down - 1) / g.down }

// function is the name of a kernel in that grain, of operands whose rows are multiples of 16
// bytes or not.
func (g grain) function(name string, aligned bool) string {
	name += "_" + g.kernel
	if !aligned {
		name += "_ragged"
	}
	return name
}

// aligned says whether rows of so many elements are multiples of 16 bytes.
func (ws *workspace) aligned(elems ...int64) bool {
	for _, n := range elems {
		if n*ws.dtype.Bytes()%16 != 0 {
			return false
		}
	}
	return true
}

// cut is a product with how it is cut.
type cut struct {
	gemmShape
	grain
}

// scratch are the arguments partial and arrived of a kernel for products, one behind the other.
func (ws *workspace) scratch(products ...cut) ([]Arg, error) {
	var sums, tiles int64
	for _, c := range products {
		tiles += c.blocks(c.gemmShape)
		sums += c.blocks(c.gemmShape) * c.splits * c.grain.sums
	}
	if tiles*products[0].grain.sums == sums { // nothing is in slices
		return []Arg{Pointer(0), Pointer(0)}, nil
	}
	partial, err := ws.alloc(sums * sum(ws.dtype).Bytes)
	if err != nil {
		return nil, err
	}
	arrived, err := ws.zeroed(tiles * 4)
	return []Arg{Pointer(partial), Pointer(arrived)}, err
}

// zeroed is new memory of zeros.
func (ws *workspace) zeroed(bytes int64) (Address, error) {
	a, err := ws.alloc(bytes)
	if err != nil {
		return 0, err
	}
	return a, ws.context.Set(a, 0, bytes)
}

// check refuses what the kernels, which count in int, cannot.
func (p gemmShape) check() error {
	for _, n := range []int64{p.m, p.n, p.k} {
		if n > math.MaxInt32-1024 {
			return fmt.Errorf("a dimension of %d: %w", n, bench.ErrUnsupported)
		}
	}
	if p.batch > 65535 {
		return fmt.Errorf("a batch of %d, more than 65535: %w", p.batch, bench.ErrUnsupported)
	}
	return nil
}

// multiply is the kernel of one product and what follows it. name is that of the functions for tiles.
func (ws *workspace) multiply(source, name string, p gemmShape, x, w Arg, e epilogue, then ...Arg) (*kernel, error) {
	aligned := ws.aligned(p.k, p.channels)
	if !p.byRows {
		aligned = aligned && ws.aligned(p.n)
	}
	return ws.byTrial(source, p, func(g grain) (*kernel, error) {
		source, name, then := source, name, then
		if g.skinny {
			source, name, then = "gemv", "gemv", nil
			if p.byRows {
				name = "gemv_rows"
			}
		}
		scratch, err := ws.scratch(cut{p, g})
		if err != nil {
			return nil, err
		}
		args, err := e.args(ws)
		if err != nil {
			return nil, err
		}
		grid := Grid{
			Blocks:  [3]int{int(g.blocks(p) / p.batch * g.splits), int(p.batch)},
			Threads: [3]int{g.threads}, Shared: int(g.shared),
		}
		return ws.ours(source, g.function(name, aligned), grid,
			join([]Arg{x, w}, p.dims(), then, []Arg{Int(int(g.splits))}, scratch, args)...)
	})
}

// dims are the arguments m, n and k of a kernel.
func (p gemmShape) dims() []Arg { return []Arg{Int(int(p.m)), Int(int(p.n)), Int(int(p.k))} }

// products are the types in which our own kernels multiply.
var products = append(floats[:len(floats):len(floats)], schema.INT8)
