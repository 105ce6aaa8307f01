package cpu

import "hwcal/bench"

func init() { register("peak_fma", bindPeak[float32], bindPeak[float64]) }

// bindPeak gives each worker accumulators of its own, which it leaves in its row
// of the output. A row is longer than the accumulators: they are repeated, as
// every element is verified.
func bindPeak[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	peak := peakKernelOf[T](ws.isa)
	out := data[T](ws, op.Out)
	row := len(out) / len(ws.workers)
	iters := int(op.Params.(bench.PeakParams).Rounds * bench.PeakRoundFLOP / int64(peak.flopPerIter))
	start := make([]T, peak.accs)
	for i, v := range bench.Normal.Block(ws.seed, 0, int64(peak.accs)) {
		start[i] = T(v)
	}
	return &kernel{
		name:    peak.name,
		private: true,
		alike:   true,
		body: func(w *worker) {
			mine := out[w.id*row:][:row]
			acc := mine[:peak.accs]
			copy(acc, start)
			peak.run(iters, acc)
			for at := peak.accs; at < row; at += copy(mine[at:], acc) {
			}
		},
	}, nil
}
