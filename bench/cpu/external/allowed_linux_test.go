package external

import (
	"testing"

	"golang.org/x/sys/unix"
)

// allowedCPUs are up to two of those that the process may run on.
func allowedCPUs(t *testing.T) (cpus []int) {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for i := 0; len(cpus) < min(2, set.Count()); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}
