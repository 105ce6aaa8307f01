package cpu

// flushCall is the number of lines of one call: some hundred microseconds, for which the garbage collector waits.
const flushCall = 1 << 14

// flush drives the worker's share of all buffers in use out to memory.
func (m *memory) flush(w *worker) {
	for _, a := range m.arenas {
		lo, hi := w.share(a.used, 64)
		for ; lo < hi; lo += flushCall * 64 {
			flushLines(&a.mem[lo], ceilDiv(min(hi-lo, flushCall*64), 64))
		}
	}
}
