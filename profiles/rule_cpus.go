package profiles

import (
	"fmt"
	"slices"
)

// checkCPUs: the CPUs of the workers are some of those that the process was allowed, each once, and none is in two
// classes of cores or in two NUMA nodes. No more memory is available than there is.
func checkCPUs(c *checker) {
	if all, free := c.Host.MemoryBytes, c.Host.MemoryAvailableBytes; all > 0 && free > all {
		c.fail("/host/memory_available_bytes", "more than /host/memory_bytes", fmt.Sprint(free), fmt.Sprintf("at most %d", all))
	}
	for at, d := range c.eachDevice() {
		if d.CPU == nil {
			continue
		}
		c.eachOnce(at+"/cpu/used_cpus", d.CPU.UsedCPUs, map[int]string{})
		for i, id := range d.CPU.UsedCPUs {
			if allowed := c.Host.AllowedCPUs; len(allowed) > 0 && !slices.Contains(allowed, id) {
				c.fail(fmt.Sprintf("%s/cpu/used_cpus/%d", at, i), "not among /host/allowed_cpus", fmt.Sprint(id), "a CPU that the process may use")
			}
		}
		classes, nodes := map[int]string{}, map[int]string{}
		for i, class := range d.CPU.CoreClasses {
			c.eachOnce(fmt.Sprintf("%s/cpu/core_classes/%d/cpus", at, i), class.CPUs, classes)
		}
		for i, n := range d.CPU.NUMANodes {
			c.eachOnce(fmt.Sprintf("%s/cpu/numa_nodes/%d/cpus", at, i), n.CPUs, nodes)
		}
	}
}

// eachOnce asks that CPUs were not seen before, and notes where they are.
func (c *checker) eachOnce(path string, cpus []int, seen map[int]string) {
	for i, id := range cpus {
		at := fmt.Sprintf("%s/%d", path, i)
		if first, have := seen[id]; have {
			c.fail(at, "a CPU that is there already", fmt.Sprint(id), "each once; the first is "+first)
			continue
		}
		seen[id] = at
	}
}
