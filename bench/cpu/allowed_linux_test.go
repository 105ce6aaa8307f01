package cpu

import (
	"testing"

	"golang.org/x/sys/unix"
)

// allowedCPUs are those in the affinity mask of the test.
func allowedCPUs(t testing.TB) []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
