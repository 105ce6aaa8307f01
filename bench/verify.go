package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"hwcal/bench/ref"
	"hwcal/schema"
)

// verifyWork bounds the FLOP that the float64 reference of one case may take. A
// result that would need more is verified on a sample of its elements; the tests
// of the kernels verify every element, at sizes that straddle all edges.
var verifyWork float64 = 1 << 18 // a variable for the tests of the calibrator, which verify often

// verifyParts is how many parts of a network get as much as a case; more share that of so many.
const verifyParts = 16

// verifySingle bounds those of the only element that there is: a loss.
const verifySingle = 1 << 26

// verifyChecksum is how many times as much a thread's checksum of an array may take: it is a part of
// the result, and has no sample. Kernels differ for arrays beyond L2, of up to some MiB.
const verifyChecksum = 4

// verifyElems bounds the elements of a sample.
const verifyElems = 1 << 14

// verifyRun is the number of neighbours that are verified together, or fewer where these would take more
// than a part of the work: there are at least verifyPlaces.
const verifyRun, verifyPlaces = 16, 4

// precisionOf the accumulation: fp64 for fp64, exact for int8, fp32 for all else; on a whole
// device, whose tensor cores multiply the narrow types, it is cut off instead of rounded. The vector units
// of a CPU add fp16 in fp16; kernels may let them do so for shortSum products. Narrow numbers are
// rounded to their type when they are stored.
func precisionOf(d schema.DType, on Place) ref.Precision {
	narrow := schema.FP32.UnitRoundoff()
	if on.Threads == 0 {
		narrow = cutOff
	}
	switch d {
	case schema.FP64:
		return ref.Precision{U: schema.FP64.UnitRoundoff()}
	case schema.INT8:
		return ref.Precision{}
	case schema.TF32:
		// A result may be kept in fp32: the product that reads it drops the low bits.
		return ref.Precision{U: cutOff, Stored: ref.Rounding{U: 2 * schema.TF32.UnitRoundoff(), Tiny: tinyBF16}}
	case schema.FP16:
		p := ref.Precision{U: narrow, Tiny: tinyFP16, Stored: ref.Rounding{U: schema.FP16.UnitRoundoff(), Tiny: tinyFP16}}
		if on.Threads > 0 {
			ku := shortSum * schema.FP16.UnitRoundoff()
			p.Short = ku / (1 - ku)
		}
		return p
	case schema.BF16:
		return ref.Precision{U: narrow,
			Stored: ref.Rounding{U: schema.BF16.UnitRoundoff(), Tiny: tinyBF16}}
	case schema.FP8:
		const ku = shortSumFP8 * cutOffFP8
		return ref.Precision{U: cutOff, Short: ku / (1 - ku),
			Stored: ref.Rounding{U: schema.FP8.UnitRoundoff(), Tiny: tinyFP8}}
	}
	return ref.Precision{U: schema.FP32.UnitRoundoff()}
}

// Tensor cores add the exact products of a step and the sum so far at once, aligned with the
// largest of them; they cut off what lies below the last bit and, at the end, what fp32 does not
// hold. From Ampere on at least 24 bits lie behind the point, so that with steps of four
// products and more no addition costs more than the last bit of fp32; of fp8, Ada and Hopper
// keep 13. (Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores,
// PeerJ CS 2021; Khattak and Mikaitis, Accurate models of NVIDIA tensor cores, arXiv 2512.07004.)
const (
	cutOff    = 0x1p-23
	cutOffFP8 = 0x1p-13
)

// shortSum is how many products kernels may add in fp16. Those of fp8 move their sums to fp32
// after 128 products, as CUTLASS does unless told otherwise: eight steps of 16, each of which
// cuts off the sum so far and the new one too.
const (
	shortSum    = 32
	shortSumFP8 = 128 + 2*8
)

// Half of the smallest number of fp16 and fp8; the smallest normal one of bf16, as the units
// for it take what lies below for 0, and of tf32.
const (
	tinyFP16 = 0x1p-25
	tinyFP8  = 0x1p-10
	tinyBF16 = 0x1p-126
)

// expectation is the reference of some elements of the output of a chain.
type expectation struct {
	at   []int64
	want []ref.Num
}

// verifiable says whether one element of the output can be verified within the
// work; a checksum of a larger array cannot, and is verified on smaller ones.
func verifiable(c Chain) bool {
	for _, op := range c {
		if op.Ref == nil {
			return false
		}
	}
	cost := mostCost(c)
	switch {
	case c.FLOP() == 0:
		return cost <= verifyChecksum*verifyWork
	case c.Output().Elems() == 1:
		return cost <= verifySingle
	}
	return cost <= verifyWork
}

// mostCost is the elementCost of the costliest operation.
func mostCost(c Chain) float64 {
	cost := 0.0
	for _, op := range c {
		cost = max(cost, elementCost(op))
	}
	return cost
}

// elementCost estimates the FLOP of one element of the output.
func elementCost(op Op) float64 {
	switch op.Name {
	case "softmax", "causal_softmax":
		return 1 // its row is computed once
	case "peak_fma":
		return 1 // all are the same, however long they take
	}
	cost := max(1, float64(op.FLOP)/op.Out.approxElems())
	for _, t := range op.In {
		if t.Used() > op.Out.Elems() && op.FLOP == 0 {
			cost = max(cost, t.approxElems()/op.Out.approxElems())
		}
	}
	return cost
}

// expect computes the reference of the chain's output: of all elements, or of the
// first, the last and random ones until so much work is spent.
func expect(ws Workspace, c Case, work float64) expectation {
	spent := 0.0
	fields := map[*Tensor]ref.Field{}
	for _, t := range c.Chain.Inputs() {
		fields[t] = deviceField(ws, t)
	}
	inputs := func(op Op) []ref.Field {
		in := make([]ref.Field, len(op.In))
		for i, t := range op.In {
			in[i] = fields[t]
		}
		return in
	}
	p := precisionOf(c.DType, c.Place)
	for i, op := range c.Chain {
		in := inputs(op)
		if p.Stored != (ref.Rounding{}) && i+1 < len(c.Chain) && c.Chain[i+1].Fold != nil {
			next, w := c.Chain[i+1], op.In[1]
			in[1] = next.Fold(in[1], w.Elems()/w.Dims[0], inputs(next), p.Stored)
		}
		f := op.Ref(in, p)
		if !op.Out.Sums {
			f = p.Stored.Round(f)
		}
		cost := elementCost(op)
		known := newMemo() // neighbours ask for the same rows of what is before them
		fields[op.Out] = func(i int64) ref.Num {
			v := known.at(i)
			if !v.known {
				spent += cost
				v.Num, v.known = f(i), true
			}
			return v.Num
		}
	}
	var e expectation
	add := func(from, to int64) {
		for i := from; i < to; i++ {
			e.at = append(e.at, i)
			e.want = append(e.want, fields[c.Chain.Output()](i))
		}
	}
	n := c.Chain.Output().Elems()
	run := min(verifyRun, max(1, int64(work/verifyPlaces/mostCost(c.Chain))), n)
	add(0, run)
	add(max(run, n-run), n)
	if perElem := spent / float64(len(e.at)); perElem*float64(n) <= work && n <= verifyElems {
		add(run, n-run)
		return e
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x5eed))
	for spent < work && len(e.at) < verifyElems {
		from := rng.Int64N(n - run + 1)
		add(from, from+run)
	}
	return e
}

// deviceField reads an input back from the device, so that the reference starts
// from the values that the kernel has. Of elements that are asked for one after the other
// it reads twice as many each time, up to some hundreds.
func deviceField(ws Workspace, t *Tensor) ref.Field {
	block := make([]float64, 512)
	from, have := int64(0), int64(0) // block holds so many elements from there on
	return func(i int64) ref.Num {
		if i < from || i >= from+have {
			count := int64(1)
			if i == from+have {
				count = min(max(2*have, 1), int64(len(block)), t.Elems()-i)
			}
			if err := ws.Read(t, i, block[:count]); err != nil {
				return ref.Num{V: math.NaN()} // fails every comparison
			}
			from, have = i, count
		}
		return ref.Num{V: block[i-from]}
	}
}

// verify runs the kernels once and compares the output with the reference, at
// elements poisoned before. It returns the largest absolute difference and how
// long the run took. The reference is itself rounded, at the precision of float64.
func verify(ws Workspace, c Case, ks []Kernel, e expectation) (float64, time.Duration, error) {
	out := c.Chain.Output()
	if err := ws.Poison(out, e.at); err != nil {
		return 0, 0, err
	}
	took, err := Sample(ws, ks, 1)
	if err != nil {
		return 0, 0, err
	}
	own := 0.0
	if u := precisionOf(c.DType, c.Place).U; u > 0 {
		own = schema.FP64.UnitRoundoff() / u
	}
	worst := 0.0
	got := make([]float64, 1)
	for j, i := range e.at {
		if err := ws.Read(out, i, got); err != nil {
			return 0, 0, err
		}
		want, diff := e.want[j], math.Abs(got[0]-e.want[j].V)
		if bound := want.E * (1 + own); !(diff <= bound) {
			return 0, 0, fmt.Errorf("bench: %s %s %s: %s[%d] = %g, want %g +- %.2g: %w",
				c.Chain, c.DType, ks[len(ks)-1].Implementation(), out.Name, i, got[0], want.V, bound, ErrMismatch)
		}
		worst = max(worst, diff)
	}
	return worst, took, nil
}

// Verify runs a chain on a backend, untimed: its operations one by one and, if
// there are several, fused. It returns the largest absolute difference from the reference, or
// ErrMismatch.
func Verify(b Backend, c Case) (float64, error) {
	ws, err := b.Open(c)
	if err != nil {
		return 0, err
	}
	defer ws.Close()
	unfused, err := unfusedSide(ws, c)
	if err != nil {
		return 0, err
	}
	sides := []side{unfused}
	if len(c.Chain) > 1 {
		fused, err := fusedSide(ws, c)
		if err != nil {
			return 0, err
		}
		sides = append(sides, fused)
	}
	worst, _, err := verifySides(ws, c, sides)
	return worst, err
}
