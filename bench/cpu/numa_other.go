//go:build !linux

package cpu

import (
	"fmt"

	"hwcal/bench"
)

func bindMemory([]byte, int) error {
	return fmt.Errorf("cpu: memory is bound to NUMA nodes on Linux only: %w", bench.ErrUnsupported)
}
