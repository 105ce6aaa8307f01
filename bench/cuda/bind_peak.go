package cuda

import (
	"encoding/binary"
	"math"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

func init() {
	for _, u := range []struct {
		entry
		source string
		grid   peakGrid
	}{
		// Two warpgroups a block, each with a tile of 64 x 256.
		{entry{unit: "wgmma", least: Capability{9, 0}, majors: []int{9}, dtypes: []schema.DType{schema.TF32, schema.FP16, schema.BF16, schema.FP8, schema.INT8}},
			"peak_wgmma", peakGrid{threads: 256, a: 64, b: 256, tiles: 2}},
		// 16 warps a block, each with tiles of 4 numbers a lane.
		{entry{unit: "mma", least: Capability{8, 0}, dtypes: []schema.DType{schema.FP64}},
			"peak", peakGrid{threads: 512, a: 16, b: 8, tiles: 16 * 4}},
		// Not for 10 and 11: their tensor cores need tcgen05 for full speed, and mma would not show their peak.
		{entry{unit: "mma", least: Capability{8, 0}, majors: []int{8, 9, 12}, dtypes: []schema.DType{schema.TF32, schema.FP16, schema.BF16, schema.INT8}},
			"peak", peakGrid{threads: 512, a: 16, b: 8, tiles: 16 * 4}},
		// For the other devices NVIDIA's compiler turns an mma in fp8 into two in fp16.
		{entry{unit: "mma", least: Capability{8, 9}, majors: []int{8, 12}, dtypes: []schema.DType{schema.FP8}},
			"peak", peakGrid{threads: 512, a: 16, b: 8, tiles: 16 * 4}},
	} {
		e := u.entry
		e.provider = own
		e.bind = func(ws *workspace, c bench.Chain) (*kernel, error) {
			return u.grid.bind(ws, c[0], u.source, "peak_"+u.unit)
		}
		register("peak_fma", e)
	}
	register("peak_fma", entry{provider: own, unit: "fma", dtypes: []schema.DType{schema.FP64, schema.FP32}, bind: bindPeakFMA})
}

// peakStart is the number of random numbers from which the FMA units start.
const peakStart = 1024

// bindPeakFMA gives each SM a block, and the threads of all as many steps as make the FLOP of the
// operation.
func bindPeakFMA(ws *workspace, c bench.Chain) (*kernel, error) {
	const threads, numbers, unrolled = 512, 16, 16 // as in peak.cu
	op := c[0]
	perStep := 2 * int64(numbers*threads*ws.backend.sms)
	steps := roundUp(divideUp(op.FLOP, perStep), unrolled)
	e := element.Of(ws.dtype)
	start := make([]byte, peakStart*e.Bytes)
	for i, v := range bench.Normal.Block(ws.seed, 0, peakStart) {
		e.Set(start, int64(i), v)
	}
	from, err := ws.upload(start)
	if err != nil {
		return nil, err
	}
	return ws.ours("peak", "peak_fma", Grid{Blocks: [3]int{ws.backend.sms}, Threads: [3]int{threads}},
		ws.pointer(op.Out), Long(op.Out.Elems()), Pointer(from), Long(steps), ws.scalar(0.5), ws.scalar(1))
}

// peakGrid is what a block of a tensor-core kernel works on: so many tiles, of `a` rows and `b` columns. Each SM runs
// one block.
type peakGrid struct{ threads, a, b, tiles int }

// rowBytes is the size of a row of A, or column of B, of one product.
const rowBytes = 32

// lastPairs bounds the number of pairs of products that change the sums (the pairs before cancel), so that sums stay
// within the 13 bits that fp8 products accumulate exactly.
const lastPairs = 256

// bind makes the operands that peak.cuh wants: random numbers, rounded to so few digits that all sums are
// exact.
func (g peakGrid) bind(ws *workspace, op bench.Op, source, name string) (*kernel, error) {
	e := element.Of(ws.dtype)
	k := rowBytes / int(e.Bytes)
	perPair := 2 * 2 * int64(g.a*g.b*k*g.tiles*ws.backend.sms)
	const turn = 4 // as in peak_wgmma.cu
	pairs := roundUp(divideUp(op.FLOP, perPair), turn)
	last := min(pairs, lastPairs)

	quantum, limit := 1./16, 2.
	switch ws.dtype {
	case schema.FP8: // has a significand of 4 bits
		quantum, limit = 1./4, 1.75
	case schema.INT8: // up to 126, so that 1 - b is an int8, too
		quantum, limit = 1./bench.Int8Unit, 126./bench.Int8Unit
	}
	random := func(i, rows int) []float64 {
		values := make([]float64, rows*k)
		for j, v := range bench.Normal.Block(ws.seed, i, int64(len(values))) {
			values[j] = max(-limit, min(math.RoundToEven(v/quantum)*quantum, limit))
		}
		return values
	}
	a, b := random(0, g.a), random(1, g.b)
	minus, c, start := make([]float64, len(b)), make([]float64, len(b)), []byte{}
	for i, v := range b {
		minus[i], c[i] = -v, -v
		if i%k == 0 {
			c[i] += quantum
		}
	}
	for i := 0; i < len(a); i += k {
		if a[i] == 0 {
			a[i] = quantum // else nothing would be added to this row
		}
		switch v := 2 - float64(last)*a[i]*quantum; ws.dtype {
		case schema.FP64:
			start = binary.NativeEndian.AppendUint64(start, math.Float64bits(v))
		case schema.INT8: // of integers, where the unit of the product is its square
			v = 2 - float64(last)*a[i]*bench.Int8Unit
			start = binary.NativeEndian.AppendUint32(start, uint32(int32(v)))
		default:
			start = binary.NativeEndian.AppendUint32(start, math.Float32bits(float32(v)))
		}
	}
	args := []Arg{ws.pointer(op.Out), Long(op.Out.Elems())}
	for _, values := range [][]float64{a, b, minus, c} {
		mem := make([]byte, int64(len(values))*e.Bytes)
		for i, v := range values {
			e.Set(mem, int64(i), v)
		}
		at, err := ws.upload(mem)
		if err != nil {
			return nil, err
		}
		args = append(args, Pointer(at))
	}
	from, err := ws.upload(start)
	if err != nil {
		return nil, err
	}
	args = append(args, Pointer(from), Long(pairs-last), Long(last))
	return ws.ours(source, name, Grid{Blocks: [3]int{ws.backend.sms}, Threads: [3]int{g.threads}}, args...)
}

// upload gives bytes to the device until the workspace is closed.
func (ws *workspace) upload(mem []byte) (Address, error) {
	a, err := ws.alloc(int64(len(mem)))
	if err != nil {
		return 0, err
	}
	return a, ws.context.Upload(a, mem)
}

func divideUp(n, by int64) int64 { return (n + by - 1) / by }

func roundUp(n, to int64) int64 { return divideUp(n, to) * to }
