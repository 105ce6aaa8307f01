package cpu

import (
	"fmt"
	"math/rand/v2"
	"unsafe"
)

// hugePage is the alignment of an arena: the size of a huge page on amd64 and,
// with 4 KiB base pages, on arm64.
const hugePage = 2 << 20

// arena is memory outside of the Go heap from which the tensors and scratch
// buffers of a case are cut. It is mapped once and used again from case to case:
// fresh pages of a virtual machine are expensive to touch.
type arena struct {
	whole []byte // as mapped
	mem   []byte // the aligned part
	used  int
	old   int // bytes that earlier cases used
	gaps  *rand.Rand
}

// newArena maps size bytes on pages of the wanted kind.
func newArena(size int64, huge bool) (*arena, error) {
	whole, err := mapMemory(size+hugePage, huge)
	if err != nil {
		return nil, fmt.Errorf("cpu: map %d bytes: %w", size, err)
	}
	skip := (hugePage - int(uintptr(unsafe.Pointer(&whole[0]))%hugePage)) % hugePage
	a := &arena{whole: whole, mem: whole[skip : skip+int(size)]}
	a.reset()
	return a, nil
}

// gapPages is the number of pages, that of a way of L2, of which a random one begins a buffer. Otherwise the buffers
// of a case would have the same distances in every layout, and compete for the same sets.
const gapPages = 16

// A buffer begins at a multiple of colourBytes within a page, which differs from buffer to buffer, so that the streams of
// a kernel do not compete for one set of L1. Smaller steps would suffer from 4K aliasing: a load waits for a recent store to
// the same offset of another page. A Zen 4 runs layer norm in L2 at 82 GB/s if the result begins at the same offset as the
// input or 768 bytes or more behind it, at 59 if 64 bytes behind it, and at 71 if 256.
const colourBytes = 1024

// alloc cuts n bytes, some pages behind the last ones, aligned to 4 KiB plus a colour.
func (a *arena) alloc(n int64) ([]byte, error) {
	start := (a.used+4095)&^4095 + a.gaps.IntN(gapPages)*4096
	start += start / 4096 * colourBytes % 4096
	end := int64(start) + n
	if end > int64(len(a.mem)) {
		return nil, fmt.Errorf("cpu: arena of %d bytes has no room for %d after %d", len(a.mem), n, a.used)
	}
	a.used = int(end)
	return a.mem[start:end:end], nil
}

// reset takes all buffers back; the next ones have the same places.
func (a *arena) reset() {
	a.old = max(a.old, a.used)
	a.used, a.gaps = 0, rand.New(rand.NewPCG(1, 1))
}

// fresh says that the buffer that was cut last may have pages that nobody has touched.
func (a *arena) fresh() bool { return a.used > a.old }

func (a *arena) close() error { return unmapMemory(a.whole) }

// as views memory as elements of type T.
func as[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
}

// asBytes views elements as bytes.
func asBytes[T any](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// lines rounds a count of elements up to whole cache lines.
func lines[T float](n int) int {
	return ceilDiv(n, perLine[T]()) * perLine[T]()
}

// perLine is the number of elements of a cache line.
func perLine[T float]() int { return 64 / int(unsafe.Sizeof(T(0))) }

// lengthBytes is the size of buffers of these lengths, each in whole cache lines.
func lengthBytes[T float](lengths ...int) int64 {
	total := 0
	for _, n := range lengths {
		total += lines[T](n)
	}
	return int64(total) * int64(unsafe.Sizeof(T(0)))
}

// cutter cuts memory into buffers in whole cache lines.
type cutter[T float] struct{ rest []T }

func (c *cutter[T]) cut(n int) []T {
	part := c.rest[:n:n]
	c.rest = c.rest[lines[T](n):]
	return part
}
