package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"hwcal/bench/stat"
)

// A block takes samples of both sides in quads of ABBA or BAAB, until it has lasted
// some milliseconds or has four quads. Its ratio is that of the fastest samples: a
// disturbance must hit all samples of a side to move it. After each look that decided nothing both limits
// double: on a host that keeps taking cores away few samples are undisturbed on all cores, and a block tells the
// truth only if each side has one of these.
const (
	quad       = 4
	mostQuads  = 4
	blockLasts = 4 * time.Millisecond
)

// quadsOf is the number of quads in the block that follows n others, if a quad lasts so long.
func quadsOf(n int, lasts time.Duration) int {
	look := 0
	for look < len(stat.Looks) && n >= stat.Looks[look] {
		look++
	}
	return min(max(1, int(blockLasts<<look/max(1, lasts))), mostQuads<<look)
}

// blocks runs blocks, in the layouts in turn, and keeps what they gave.
type blocks struct {
	layouts layouts
	runs    [2]Run // of the sides, less their kernels: unfused, fused
	n       float64
	lasts   time.Duration // a quad
	coin    *rand.Rand

	done []ratio
}

// ratio is what a block gave.
type ratio struct {
	d    float64 // log
	u, f float64 // seconds of the fastest sample of each side
}

// newBlocks prepares blocks whose samples have so many executions a side, for n of the case.
func newBlocks(ls layouts, c Case, executions [2]int, n int) (*blocks, error) {
	b := &blocks{layouts: ls, n: float64(n), coin: rand.New(rand.NewPCG(c.Seed, uint64(c.Chain.FLOP())))}
	for side, count := range executions {
		b.runs[side] = Run{N: count, Cold: c.Cold}
	}
	ts, err := ls[0].ws[0].Samples([]Run{b.run(ls[0], 0), b.run(ls[0], 1)})
	if err != nil {
		return nil, err
	}
	b.lasts = 2 * (ts[0] + ts[1])
	return b, nil
}

// run is a sample of a side.
func (b *blocks) run(l layout, side int) Run {
	r := b.runs[side]
	r.Kernels = l.sides[side].kernels()
	return r
}

// groups are the ratios of each layout.
func (b *blocks) groups() [][]ratio { return stat.InTurn(b.done, len(b.layouts)) }

// judge decides by the ratios of each time and layout.
func judge(times [][][]ratio) stat.Decision {
	logs := make([][][]float64, len(times))
	for i, layouts := range times {
		logs[i] = make([][]float64, len(layouts))
		for j, layout := range layouts {
			for _, r := range layout {
				logs[i][j] = append(logs[i][j], r.d)
			}
		}
	}
	return stat.Decide(logs)
}

// typical gives the times of the block whose ratio is the median, so that their
// ratio is the speedup; of an even number of blocks, the geometric means of the
// middle two.
func typical(times [][][]ratio) (unfused, fused float64) {
	all := slices.Concat(slices.Concat(times...)...)
	slices.SortFunc(all, func(a, b ratio) int { return cmp.Compare(a.d, b.d) })
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	return math.Sqrt(low.u * high.u), math.Sqrt(low.f * high.f)
}

func (b *blocks) reset() { b.done = nil }

func (b *blocks) next() error {
	l := b.layouts[len(b.done)%len(b.layouts)]
	var order []int
	var runs []Run
	if len(b.layouts) > 1 {
		// The caches hold another layout. Uncounted runs bring this one back: of the unfused side, which
		// uses all tensors of the pair, or of each side if each has a workspace of its own.
		for side := range l.ws {
			runs = append(runs, Run{Kernels: l.sides[side].kernels(), N: 1})
		}
	}
	uncounted := len(runs)
	for range quadsOf(len(b.done), b.lasts) {
		first := b.coin.IntN(2)
		for _, turn := range [quad]int{0, 1, 1, 0} {
			order = append(order, turn^first)
			runs = append(runs, b.run(l, turn^first))
		}
	}
	times, err := l.ws[0].Samples(runs)
	if err != nil {
		return err
	}
	var sides [2][]float64
	for i, t := range times[uncounted:] {
		sides[order[i]] = append(sides[order[i]], t.Seconds()/b.n)
	}
	u, f := slices.Min(sides[0]), slices.Min(sides[1])
	if u == 0 || f == 0 {
		return fmt.Errorf("bench: samples of %d and %d executions, of which some took no time by a clock this coarse: %w", b.runs[0].N, b.runs[1].N, ErrUnsupported)
	}
	b.done = append(b.done, ratio{stat.LogRatio(sides[0], sides[1]), u, f})
	return nil
}
