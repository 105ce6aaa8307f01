package cpu

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"hwcal/bench"
)

// maxNodes is the largest number of NUMA nodes that Linux can be built for.
const maxNodes = 1024

// bindMemory has the pages of mem taken from one NUMA node and from no other, when
// they are written first. A container may forbid it.
func bindMemory(mem []byte, node int) error {
	if node < 0 || node >= maxNodes {
		return fmt.Errorf("cpu: NUMA node %d: want 0 to %d", node, maxNodes-1)
	}
	var mask [maxNodes / 64]uint64
	mask[node/64] = 1 << (node % 64)
	// The kernel counts one bit less than it is told.
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)),
		unix.MPOL_BIND, uintptr(unsafe.Pointer(&mask)), maxNodes+1, 0)
	if errno != 0 {
		return fmt.Errorf("cpu: mbind to NUMA node %d: %w: %w", node, errno, bench.ErrUnsupported)
	}
	return nil
}
