package hwdetect

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// affinity is the mask of the process's main thread: workers may have pinned
// the calling one. The call fails on machines with more than 1024 CPUs, where
// proc/self/status still tells.
func affinity() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
