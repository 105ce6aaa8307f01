package hwdetect

import (
	"fmt"
	"slices"
	"strings"
)

// allowedCPUs are the CPUs in the affinity mask, and a note if the mask could not be
// read. The answer of the system call is the kernel's word, which has taken offline
// CPUs out: it counts also where a container shows other CPUs as online. The mask in
// proc/self/status has them in.
func allowedCPUs(t tree, ask func() ([]int, error), online []int) (allowed []int, note string) {
	var err error
	if ask != nil {
		if allowed, err = ask(); err == nil && len(allowed) > 0 {
			return sortedSet(allowed), ""
		}
	}
	for _, cpu := range parseAllowed(t.bytes("proc/self/status"), "Cpus_allowed_list:") {
		if slices.Contains(online, cpu) {
			allowed = append(allowed, cpu)
		}
	}
	if len(allowed) > 0 {
		return sortedSet(allowed), ""
	}
	if err != nil {
		note = fmt.Sprintf("%v: all %d online CPUs count as allowed", err, len(online))
	}
	return slices.Clone(online), note
}

// parseAllowed finds the list with that key in proc/self/status (proc_pid_status(5)): of CPUs or of NUMA nodes.
func parseAllowed(status []byte, key string) []int {
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, key); ok {
			if numbers, err := parseCPUList(list); err == nil {
				return numbers
			}
		}
	}
	return nil
}
