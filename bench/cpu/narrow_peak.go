package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// dotPeak repeats, on several independent sets of accumulators in registers,
//
//	acc[i][j] += sum over p of a[i][p] * b[p][j]
//
// where a row of a and a column of b are what one instruction multiplies. A unit that
// has no such dot product, a group of one element, repeats acc <- a*acc + b instead.
type dotPeak struct {
	// run makes n iterations on the accumulators in from, which end in to, in fp32 or
	// int32. a is [rows][k], b is [k/group][cols][group].
	run        func(n int, from, to, a, b *byte)
	rows, cols int // of the accumulators of one instruction
	k          int // multiply-adds of one accumulator in an iteration
	sets       int
}

// dotCall is the number of iterations of one assembly call, which cannot be preempted:
// at most 64 cycles each.
const dotCall = 1 << 12

// bindDotPeak lets every accumulator end at 2, as those of the FMA do: it starts n
// steps before. Every call starts there, so that the last one leaves the result: the
// numbers stay small, and exact.
func bindDotPeak(ws *workspace, c bench.Chain) (*kernel, error) {
	u, op := ws.unit, c[0]
	elem := element.Of(ws.dtype)
	peak := u.peak
	k := peak.k
	accs := peak.sets * peak.rows * peak.cols
	iters := int(op.Params.(bench.PeakParams).Rounds * bench.PeakRoundFLOP / int64(2*accs*k))
	last := (iters-1)%dotCall + 1

	a := make([]byte, max(stepBytes, peak.rows*k*int(elem.Bytes)))
	b := make([]byte, max(stepBytes, peak.cols*k*int(elem.Bytes)))
	from := make([]byte, 4*accs)
	if u.gemm.group == 1 {
		elem.Set(a, 0, 0.5)
		elem.Set(b, 0, 1)
		for i, v := range bench.Normal.Block(ws.seed, 0, int64(accs)) {
			elem.Set(from, int64(i), v)
		}
	} else {
		for i, mem := range [][]byte{a, b} {
			for j, v := range bench.Normal.Block(ws.seed, i, int64(len(mem))/elem.Bytes) {
				if ws.dtype != schema.INT8 {
					v = math.Copysign(math.Ceil(min(math.Abs(v), 2)), v) // exact sums
				}
				elem.Set(mem, int64(j), v)
			}
		}
		step := u.step(a, b, k)
		for i := range int64(accs) {
			start := 2 - float64(last)*step[i%int64(len(step))]
			if ws.dtype == schema.INT8 {
				as[int32](from)[i] = int32(int64(start)) // sums wrap around
			} else {
				as[float32](from)[i] = float32(start)
			}
		}
	}
	out := ws.bytes(op.Out)
	row := len(out) / len(ws.workers)
	return &kernel{
		name:    fmt.Sprintf("peak_%s_%dx%d_%s", u.dtype, peak.sets, peak.rows*peak.cols, u.name),
		private: true,
		alike:   true,
		body: func(w *worker) {
			mine := out[w.id*row:][:row]
			acc := mine[:4*accs]
			for left := iters; left > 0; left -= dotCall {
				peak.run(min(left, dotCall), &from[0], &acc[0], &a[0], &b[0])
			}
			for at := len(acc); at < row; at += copy(mine[at:], acc) {
			}
		},
	}, nil
}

// step is what one iteration of the peak adds to each accumulator of a set.
func (u *unit) step(a, b []byte, k int) []float64 {
	get := element.Of(u.dtype).Get
	rows, cols, group := u.peak.rows, u.peak.cols, u.gemm.group
	sums := make([]float64, rows*cols)
	for i := range sums {
		for p := range k {
			x := get(a, int64(i/cols*k+p))
			if u.gemm.shift() != 0 && x < 0 {
				x += 256 // read as unsigned
			}
			sums[i] += x * get(b, int64((p/group*cols+i%cols)*group+p%group))
		}
	}
	return sums
}
