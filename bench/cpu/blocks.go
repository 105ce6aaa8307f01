package cpu

import (
	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// blocks are the random blocks of the inputs of recent cases: a pair opens the same case for each of its
// layouts, and many cases have the same inputs.
type blocks struct {
	made  map[blockKey][]byte
	bytes int
}

// mostBlockBytes are kept.
const mostBlockBytes = 32 << 20

// blockKey holds what the values of a block depend on, and then what they are stored as, see element.OfTensor.
type blockKey struct {
	fill  bench.Fill
	seed  uint64
	input int
	elems int64

	dtype         schema.DType
	sums, factors bool
}

// of is the block of input number `input` of a case, as elements.
func (b *blocks) of(e element.Element, t *bench.Tensor, c bench.Case, input int) []byte {
	values := t.Fill.Len(t.Elems())
	key := blockKey{t.Fill, c.Seed, input, values, c.DType, t.Sums, t.Factors}
	if block, have := b.made[key]; have {
		return block
	}
	block := make([]byte, values*e.Bytes)
	for i, v := range t.Fill.Block(c.Seed, input, values) {
		e.Set(block, int64(i), v)
	}
	if b.bytes += len(block); b.made == nil || b.bytes > mostBlockBytes {
		b.made, b.bytes = map[blockKey][]byte{}, len(block)
	}
	b.made[key] = block
	return block
}
