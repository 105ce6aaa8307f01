//go:build linux

package main

import (
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// buffer is memory outside of the Go heap, on huge pages, as our own tensors.
type buffer []byte

func (b buffer) pointer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// mapped are the buffers of the current case.
var mapped [][]byte

const hugePage = 2 << 20

func newBuffer(size int) (buffer, error) {
	whole, err := unix.Mmap(-1, 0, (size+hugePage-1)/hugePage*hugePage+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	mapped = append(mapped, whole)
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (hugePage - 1)
	_ = unix.Madvise(whole, unix.MADV_HUGEPAGE) // a wish
	b := buffer(whole[skip : skip+size])
	clear(b)
	return b, nil
}

// readBuffer makes a buffer of a file, without a copy on the heap: nothing collects it.
func readBuffer(name string) (buffer, error) {
	b, err := emptyBuffer(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = io.ReadFull(f, b)
	return b, err
}

// emptyBuffer makes a buffer as large as a file, whose content is another peer's result.
func emptyBuffer(name string) (buffer, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return newBuffer(int(info.Size()))
}

func freeBuffers() {
	for _, m := range mapped {
		_ = unix.Munmap(m)
	}
	mapped = nil
}
