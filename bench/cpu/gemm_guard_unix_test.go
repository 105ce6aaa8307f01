//go:build unix

package cpu

import (
	"testing"

	"golang.org/x/sys/unix"
)

// guardedBytes maps n bytes twice, once behind and once before an inaccessible
// page.
func guardedBytes(t testing.TB, n int) (front, back []byte) {
	t.Helper()
	page := unix.Getpagesize()
	size := max(1, (n+page-1)/page) * page
	mem, err := unix.Mmap(-1, 0, 2*size+3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	for _, at := range []int{0, page + size, 2 * (page + size)} {
		if err := unix.Mprotect(mem[at:at+page], unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	end := 2 * (page + size)
	return mem[page : page+n : page+n], mem[end-n : end : end]
}
