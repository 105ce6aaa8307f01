//go:build unix

package cpu

import "golang.org/x/sys/unix"

// mapMemory maps anonymous memory and asks for huge pages or for small ones.
func mapMemory(size int64, huge bool) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	adviseHuge(mem, huge)
	return mem, nil
}

func unmapMemory(mem []byte) error { return unix.Munmap(mem) }
