package hwdetect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPUs bounds a CPU number: the largest NR_CPUS of any Linux is 8192, and a
// hostile "0-4000000000" must not fill the memory.
const maxCPUs = 1 << 16

// parseCPUList parses the list format of cpuset(7), "0-3,8,10-14:2", into an
// ascending list without repeats. The empty list is valid.
func parseCPUList(s string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		span, strideText, strided := strings.Cut(part, ":")
		lowText, highText, ranged := strings.Cut(span, "-")
		low, err := parseCPU(lowText)
		if err != nil {
			return nil, fmt.Errorf("cpu list %q: %w", s, err)
		}
		high, stride := low, 1
		if ranged {
			if high, err = parseCPU(highText); err != nil {
				return nil, fmt.Errorf("cpu list %q: %w", s, err)
			}
		}
		if strided {
			if stride, err = parseCPU(strideText); err != nil || stride == 0 {
				return nil, fmt.Errorf("cpu list %q: bad stride %q", s, strideText)
			}
		}
		if high < low {
			return nil, fmt.Errorf("cpu list %q: %d-%d runs backwards", s, low, high)
		}
		for cpu := low; cpu <= high; cpu += stride {
			cpus = append(cpus, cpu)
		}
		if len(cpus) > maxCPUs {
			return nil, fmt.Errorf("cpu list %q: more than %d entries", s, maxCPUs)
		}
	}
	return sortedSet(cpus), nil
}

func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n >= maxCPUs {
		return 0, fmt.Errorf("bad cpu %q", s)
	}
	return int(n), nil
}

// formatCPUList is the inverse of parseCPUList: [0 1 2 5] is "0-2,5".
func formatCPUList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

// sortedSet sorts and drops repeats, in place; never nil.
func sortedSet(n []int) []int {
	if n == nil {
		return []int{}
	}
	slices.Sort(n)
	return slices.Compact(n)
}
