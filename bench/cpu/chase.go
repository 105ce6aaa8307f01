package cpu

import (
	"math/rand/v2"
	"unsafe"
)

const lineWords = 64 / 8 // of a cache line

// chasePath writes into the first word of each 64-byte line of mem the address of
// another line, so that the addresses form one cycle through all lines in random
// order (Sattolo's algorithm), the same for the same seed. mem lies outside the
// Go heap, at a multiple of 64 bytes. It returns the start.
func chasePath(mem []uint64, seed uint64) unsafe.Pointer {
	lines := len(mem) / lineWords
	for i := range lines {
		mem[i*lineWords] = uint64(uintptr(unsafe.Pointer(&mem[i*lineWords])))
	}
	random := rand.New(rand.NewPCG(seed, uint64(lines)))
	for i := lines - 1; i > 0; i-- {
		j := random.IntN(i)
		a, b := &mem[i*lineWords], &mem[j*lineWords]
		*a, *b = *b, *a
	}
	return unsafe.Pointer(&mem[0])
}

// sweep reads a word of each line of mem in order.
func sweep(mem []uint64) (sum uint64) {
	for i := 0; i < len(mem); i += lineWords {
		sum += mem[i]
	}
	return sum
}

// chase follows n addresses of a path; each load depends on the one before. The
// loop's count runs beside it, so that assembly would not be faster.
func chase(p unsafe.Pointer, n int) unsafe.Pointer {
	for range n {
		p = *(*unsafe.Pointer)(p)
	}
	return p
}
