//go:build !linux

package cpu

import (
	"runtime"
	"testing"
)

// allowedCPUs are all: workers are not pinned here.
func allowedCPUs(testing.TB) []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}
