package bench

import "hwcal/bench/ref"

// memo keeps elements of a field in blocks, as those are asked for one after the other.
type memo struct {
	blocks map[int64]*memoBlock
	number int64
	block  *memoBlock // the last one
}

type memoBlock [64]memoElement

type memoElement struct {
	ref.Num
	known bool
}

func newMemo() *memo { return &memo{blocks: map[int64]*memoBlock{}, number: -1} }

// at is where element i is kept.
func (m *memo) at(i int64) *memoElement {
	const size = int64(len(memoBlock{}))
	if number := i / size; number != m.number {
		block := m.blocks[number]
		if block == nil {
			block = new(memoBlock)
			m.blocks[number] = block
		}
		m.number, m.block = number, block
	}
	return &m.block[i%size]
}
