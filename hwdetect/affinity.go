package hwdetect

import (
	"fmt"
	"slices"
	"strings"
)

// allowedCPUs are the online CPUs in the affinity mask, and a note if the mask
// could not be read.
func allowedCPUs(t tree, ask func() ([]int, error), online []int) (allowed []int, note string) {
	var mask []int
	var err error
	if ask != nil {
		mask, err = ask()
	}
	if ask == nil || err != nil {
		mask = parseAllowed(t.bytes("proc/self/status"))
	}
	for _, cpu := range mask {
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

// parseAllowed finds Cpus_allowed_list in proc/self/status (proc_pid_status(5)).
func parseAllowed(status []byte) []int {
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			if cpus, err := parseCPUList(list); err == nil {
				return cpus
			}
		}
	}
	return nil
}
