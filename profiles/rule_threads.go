package profiles

import (
	"fmt"

	"hwcal/schema"
)

// checkThreads: an entry has as many threads as the run had CPUs, in all or of its class of
// cores, which the CPU has, or fewer, but one; of a GPU it has none.
func checkThreads(c *checker) {
	for at, d := range c.eachDevice() {
		if d.CPU == nil {
			checkNoThreads(c, at, d)
			continue
		}
		most := func(path string, threads, of int, where string) {
			switch {
			case threads == 0:
				c.fail(path+"/threads", "no threads on a CPU", "", "at least 1")
			case threads > of:
				c.fail(path+"/threads", "more threads than CPUs of "+where, fmt.Sprint(threads), fmt.Sprintf("at most %d", of))
			}
		}
		all := at + "/cpu/used_cpus"
		classes := map[string]int{}
		for i, class := range d.CPU.CoreClasses {
			classes[class.Name] = i
		}
		for path, e := range computes(at, d) {
			of, where := len(d.CPU.UsedCPUs), all
			if i, have := classes[e.CoreClass]; have {
				of, where = min(of, len(d.CPU.CoreClasses[i].CPUs)), fmt.Sprintf("%s/cpu/core_classes/%d/cpus", at, i)
			} else if e.CoreClass != "" {
				c.fail(path+"/core_class", "no such class of cores", quote(e.CoreClass), "one of "+at+"/cpu/core_classes")
			}
			most(path, e.Threads, of, where)
		}
		for i, e := range d.Bandwidth {
			most(fmt.Sprintf("%s/bandwidth/%d", at, i), e.Threads, len(d.CPU.UsedCPUs), all)
		}
		for i, e := range d.FusionProfiles {
			most(fmt.Sprintf("%s/fusion_profiles/%d", at, i), e.Threads, len(d.CPU.UsedCPUs), all)
		}
		for i, e := range d.FusionCrossovers {
			most(fmt.Sprintf("%s/fusion_crossovers/%d", at, i), e.Threads, len(d.CPU.UsedCPUs), all)
		}
		if d.Quality != nil {
			for i, k := range d.Quality.Controls {
				most(fmt.Sprintf("%s/quality/controls/%d", at, i), k.Threads, len(d.CPU.UsedCPUs), all)
			}
		}
		ofNode := nodeCPUs(d.CPU)
		for i, e := range d.NUMA {
			most(fmt.Sprintf("%s/numa/%d", at, i), e.Threads, ofNode[e.Node], fmt.Sprintf("node %d among %s", e.Node, all))
		}
	}
}

// checkNoThreads: a GPU is not divided into threads, nor into classes of cores.
func checkNoThreads(c *checker, at string, d *schema.Device) {
	none := func(path string, threads int) {
		if threads != 0 {
			c.fail(path+"/threads", "threads of a device that is not divided into any", fmt.Sprint(threads), "none")
		}
	}
	for path, e := range computes(at, d) {
		none(path, e.Threads)
		if e.CoreClass != "" {
			c.fail(path+"/core_class", "class of cores of a device without cpu", quote(e.CoreClass), "none")
		}
	}
	for i, e := range d.Bandwidth {
		none(fmt.Sprintf("%s/bandwidth/%d", at, i), e.Threads)
	}
	for i, e := range d.FusionProfiles {
		none(fmt.Sprintf("%s/fusion_profiles/%d", at, i), e.Threads)
	}
	for i, e := range d.FusionCrossovers {
		none(fmt.Sprintf("%s/fusion_crossovers/%d", at, i), e.Threads)
	}
}

// nodeCPUs are the numbers of CPUs of the nodes that the run had.
func nodeCPUs(cpu *schema.CPUInfo) map[int]int {
	used := map[int]bool{}
	for _, id := range cpu.UsedCPUs {
		used[id] = true
	}
	of := map[int]int{}
	for _, node := range cpu.NUMANodes {
		for _, id := range node.CPUs {
			if used[id] {
				of[node.ID]++
			}
		}
	}
	return of
}

// checkNUMA: a path leads to a node that the machine has, and there are paths only
// between several. Whether its cores are there, the number of threads tells.
func checkNUMA(c *checker) {
	for at, d := range c.eachDevice() {
		if d.CPU == nil && len(d.NUMA) > 0 {
			c.fail(at+"/numa", "paths between NUMA nodes of a device without cpu", "", "none")
			continue
		}
		nodes := map[int]bool{}
		if d.CPU != nil {
			for _, n := range d.CPU.NUMANodes {
				nodes[n.ID] = true
			}
		}
		for i, e := range d.NUMA {
			path := fmt.Sprintf("%s/numa/%d", at, i)
			if !nodes[e.MemoryNode] || len(nodes) < 2 {
				c.fail(path+"/memory_node", "no such node beside another", fmt.Sprint(e.MemoryNode), "one of several in "+at+"/cpu/numa_nodes")
			}
		}
	}
}
