package cpu

import (
	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// inputs keeps the random values of recent cases, as bench.Fill repeats them over a tensor: a pair opens the
// same case for each of its layouts, and many cases have the same inputs.
type inputs struct {
	made  map[inputKey][]byte
	bytes int
}

// mostInputBytes are kept.
const mostInputBytes = 32 << 20

// inputKey holds what the values depend on, and then what they are stored as, see element.OfTensor.
type inputKey struct {
	fill  bench.Fill
	seed  uint64
	input int
	elems int64

	dtype         schema.DType
	sums, factors bool
}

// of are the values of input number `input` of a case, as elements.
func (in *inputs) of(e element.Element, t *bench.Tensor, c bench.Case, input int) []byte {
	values := t.Fill.Len(t.Elems())
	key := inputKey{t.Fill, c.Seed, input, values, c.DType, t.Sums, t.Factors}
	if block, have := in.made[key]; have {
		return block
	}
	block := make([]byte, values*e.Bytes)
	for i, v := range t.Fill.Block(c.Seed, input, values) {
		e.Set(block, int64(i), v)
	}
	if in.bytes += len(block); in.made == nil || in.bytes > mostInputBytes {
		in.made, in.bytes = map[inputKey][]byte{}, len(block)
	}
	in.made[key] = block
	return block
}
