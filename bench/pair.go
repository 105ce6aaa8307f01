package bench

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// Comparison is the outcome of a pair: the operations of a chain one by one
// against one kernel of the whole chain.
type Comparison struct {
	stat.Decision
	Unfused        float64 // seconds of one execution in the block of the median ratio
	Fused          float64
	Implementation string
	ClockMHz       float64
	MaxAbsError    float64
	Warnings       []schema.Code
	Notes          []string
}

// Compare measures a chain unfused against fused.
func (r *Runner) Compare(ctx context.Context, c Case, budget time.Duration) (Comparison, error) {
	return r.pair(ctx, c, budget, func(ws Workspace) ([]Kernel, error) {
		k, err := ws.Bind(c.Chain)
		return []Kernel{k}, err
	})
}

// Control measures the unfused side against itself: an A/A trial, whose verdict
// must be neutral or inconclusive.
func (r *Runner) Control(ctx context.Context, c Case, budget time.Duration) (Comparison, error) {
	return r.pair(ctx, c, budget, func(ws Workspace) ([]Kernel, error) { return bindEach(ws, c.Chain) })
}

func bindEach(ws Workspace, c Chain) ([]Kernel, error) {
	var ks []Kernel
	for i := range c {
		k, err := ws.Bind(c[i : i+1])
		if err != nil {
			return nil, err
		}
		ks = append(ks, k)
	}
	return ks, nil
}

func (r *Runner) pair(ctx context.Context, c Case, budget time.Duration, other func(Workspace) ([]Kernel, error)) (Comparison, error) {
	ws, err := r.open(c)
	if err != nil {
		return Comparison{}, err
	}
	defer ws.Close()
	unfused, err := bindEach(ws, c.Chain)
	if err != nil {
		return Comparison{}, err
	}
	fused, err := other(ws)
	if err != nil {
		return Comparison{}, err
	}
	out := Comparison{Implementation: fused[0].Implementation()}
	want := expect(ws, c)
	n := 1 // executions in a sample: as many as the faster side needs, for both
	for _, side := range [][]Kernel{unfused, fused} {
		worst, took, err := verify(ws, c, side, want)
		if err != nil {
			return out, err
		}
		out.MaxAbsError = max(out.MaxAbsError, worst)
		iterations, err := r.iterations(ws, side, took)
		if err != nil {
			return out, err
		}
		n = max(n, iterations)
	}
	b := blocks{ws: ws, unfused: unfused, fused: fused, n: n, coin: rand.New(rand.NewPCG(c.Seed, uint64(c.Chain.FLOP())))}
	g, err := r.guard(c.Place, func() error {
		b.reset()
		deadline := r.Now().Add(budget)
		for {
			if err := b.next(); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			n, spent := len(b.d), !r.Now().Before(deadline)
			if n < stat.Looks[0] || !spent && !slices.Contains(stat.Looks, n) {
				continue
			}
			// Running out of time between two looks takes the place of the next
			// one, so that there are never more than four.
			out.Decision = stat.Decide(b.d)
			if out.Verdict != schema.Inconclusive || spent || n >= maxBlocks {
				return nil
			}
		}
	})
	out.ClockMHz, out.Warnings, out.Notes = g.clock, g.codes, g.notes
	if err != nil {
		return out, err
	}
	out.Unfused, out.Fused = b.typical()
	return out, nil
}

// blocks runs ABBA and BAAB blocks and keeps what they gave.
type blocks struct {
	ws             Workspace
	unfused, fused []Kernel
	n              int // executions in a sample
	coin           *rand.Rand

	d    []float64 // log ratios
	u, f []float64 // seconds of the faster sample of each side
}

// typical gives the times of the block whose ratio is the median, so that their
// ratio is the speedup; of an even number of blocks, the geometric means of the
// middle two.
func (b *blocks) typical() (unfused, fused float64) {
	order := make([]int, len(b.d))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(b.d[i], b.d[j]) })
	low, high := order[(len(order)-1)/2], order[len(order)/2]
	return math.Sqrt(b.u[low] * b.u[high]), math.Sqrt(b.f[low] * b.f[high])
}

func (b *blocks) reset() { b.d, b.u, b.f = nil, nil, nil }

func (b *blocks) next() error {
	first := b.coin.IntN(2)
	var sides [2][2]float64 // unfused, fused
	var count [2]int
	for _, turn := range [4]int{0, 1, 1, 0} {
		side := turn ^ first
		ks := b.unfused
		if side == 1 {
			ks = b.fused
		}
		t, err := b.ws.Sample(ks, b.n)
		if err != nil {
			return err
		}
		sides[side][count[side]] = t.Seconds() / float64(b.n)
		count[side]++
	}
	b.d = append(b.d, stat.LogRatio(sides[0], sides[1]))
	b.u = append(b.u, min(sides[0][0], sides[0][1]))
	b.f = append(b.f, min(sides[1][0], sides[1][1]))
	return nil
}
