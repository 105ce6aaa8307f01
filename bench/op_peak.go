package bench

import (
	"hwcal/bench/ref"
	"hwcal/schema"
)

// peakRounds makes one execution some hundred microseconds where units for narrow
// types are fast.
const peakRounds = 128

// deviceRounds makes it as many times longer on a whole device, which takes some microseconds to begin and to end a
// kernel: of the hundred of its fastest types that would be several percent.
const deviceRounds = 4

// roundsOf makes it as much in a type, on a wide core. tf32 is one of tensor cores.
func roundsOf(d schema.DType, on Place) int64 {
	rounds := int64(peakRounds)
	if !d.Mixed() {
		rounds /= 16
	}
	if on.Threads == 0 {
		rounds *= deviceRounds
	}
	return rounds
}

// peakAccs is the number of elements that PeakFMA leaves for checking: a whole
// set of accumulators of the widest kernel.
const peakAccs = 1024

// PeakFMA runs x <- 0.5 x + 1 in independent registers, `rounds` times over all
// accumulators of each thread. It touches no memory but to leave the
// accumulators, which converge to 2. Units that only add products run x <- x + a b,
// from where that ends at 2. One round counts PeakRoundFLOP for each
// thread, whatever the number of registers, so that a case means the same on
// every instruction set.
func PeakFMA(rounds, threads int64) Op {
	return Op{
		Name:   "peak_fma",
		Out:    &Tensor{Name: "accumulators", Dims: []int64{threads, peakAccs}, Sums: true},
		FLOP:   rounds * PeakRoundFLOP * threads,
		Params: PeakParams{rounds},
		Ref: func(_ []ref.Field, p ref.Precision) ref.Field {
			return ref.Constant(2, p)
		},
	}
}

// PeakParams is the number of rounds.
type PeakParams struct{ Rounds int64 }

// PeakRoundFLOP is the FLOP of one round and thread: a multiple of
// 2 FLOP x lanes x accumulators for every kernel of 12 to 30 registers, and of four
// tiles.
const PeakRoundFLOP = 15 << 17

func init() {
	register(Pattern{
		Name:  "peak_fma",
		Group: "compute",
		Doc:   "x <- 0.5 x + 1 in independent registers: what the FMA units can do",
		Dims:  []string{"rounds"},
		Shapes: func(schema.Mode) []Shape {
			return []Shape{dims([]string{"rounds"}, peakRounds)}
		},
		Chain: func(s Shape, threads int64) (Chain, error) {
			return Chain{PeakFMA(s.Get("rounds"), threads)}, nil
		},
	})
}
