package hwdetect

import (
	"fmt"

	"hwcal/schema"
)

// numaNodes lists the nodes that sysfs shows: none without CONFIG_NUMA.
func numaNodes(t tree) []schema.NUMANode {
	const dir = "sys/devices/system/node"
	nodes := []schema.NUMANode{}
	for _, id := range t.numbered(dir, "node") {
		at := fmt.Sprintf("%s/node%d/", dir, id)
		n := schema.NUMANode{ID: id, CPUs: t.cpuList(at + "cpulist")}
		if n.CPUs == nil {
			n.CPUs = []int{} // a node may be memory alone
		}
		meminfo := t.bytes(at + "meminfo")
		n.MemoryBytes = parseMeminfo(meminfo, "MemTotal")
		// A node has no MemAvailable; the kernel drops inactive page cache first.
		n.MemoryAvailableBytes = parseMeminfo(meminfo, "MemFree") + parseMeminfo(meminfo, "Inactive(file)")
		nodes = append(nodes, n)
	}
	return nodes
}
