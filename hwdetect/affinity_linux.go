package hwdetect

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// affinity is the mask of the process's main thread: workers may have pinned
// the calling one.
func affinity() ([]int, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(os.Getpid(), set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := range maxCPUs {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
