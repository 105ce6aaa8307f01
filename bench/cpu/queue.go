package cpu

import "sync/atomic"

// queue is what a worker offers of its work: the panels of one block after the other. It takes them itself, and
// those who have no work of their own take some, too. So cores of unequal speed, or of which a neighbour takes a part, end
// together; each panel is computed as it would be by its owner, to the same bits.
type queue struct {
	left atomic.Uint64 // how many panels of the block nobody has taken, and above that the number of the block
	_    [56]byte      // what only the owner and who takes from it write has lines of its own
	done atomic.Uint32 // panels that are finished, of all blocks
	open atomic.Bool   // whether there is a block, or will be
	_    [56]byte
	due  uint32 // what done is after this block
}

const queueCount = 1<<32 - 1 // the bits of left that count

// offer begins a block of n panels.
func (q *queue) offer(n int) {
	q.due = q.done.Load() + uint32(n)
	q.left.Store((q.left.Load()&^queueCount + queueCount + 1) | uint64(n))
}

// take takes a panel, unless fewer than least are left, and returns how many then are.
func (q *queue) take(least int) (left int, ok bool) {
	for {
		v := q.left.Load()
		n := v & queueCount
		if n < uint64(least) {
			return 0, false
		}
		if q.left.CompareAndSwap(v, v-1) {
			return int(n) - 1, true
		}
	}
}

// finished counts a panel that was taken.
func (q *queue) finished() { q.done.Add(1) }

// await returns when all panels of the block are finished.
func (q *queue) await(b *barrier) {
	for done := q.done.Load(); done != q.due; done = q.done.Load() {
		b.await(&q.done, done)
	}
}
