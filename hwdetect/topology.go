package hwdetect

import (
	"fmt"
	"slices"
)

// topology are the logical CPUs that are online.
type topology struct{ cpus []logicalCPU }

// logicalCPU places one hardware thread.
type logicalCPU struct {
	cpu    int
	socket int
	core   string // same for the threads of one core, and for no others
}

// readTopology reads sysfs, or else /proc/cpuinfo, or else believes that there
// are n CPUs on as many cores as CPUID tells.
func readTopology(t tree, info cpuInfo, id CPUID, n int) topology {
	const dir = "sys/devices/system/cpu"
	online := t.cpuList(dir + "/online")
	if len(online) == 0 {
		online = t.numbered(dir, "cpu")
	}
	var top topology
	for _, cpu := range online {
		top.cpus = append(top.cpus, place(t, info, cpu))
	}
	if len(top.cpus) > 0 {
		return top
	}
	for _, e := range info.cpus {
		top.cpus = append(top.cpus, logicalCPU{cpu: e.cpu, socket: max(e.socket, 0), core: fmt.Sprintf("%d/%d", e.socket, e.core)})
	}
	if len(top.cpus) > 0 {
		return top
	}
	n = max(n, 1)
	threads := 1 // of a core
	if id.Cores > 0 && n%id.Cores == 0 {
		threads = n / id.Cores
	}
	for cpu := range n {
		top.cpus = append(top.cpus, logicalCPU{cpu: cpu, core: fmt.Sprint(cpu / threads)})
	}
	return top
}

// place finds the core and the package of a CPU in sysfs, or else in /proc/cpuinfo.
func place(t tree, info cpuInfo, cpu int) logicalCPU {
	at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
	l := logicalCPU{cpu: cpu}
	// Linux before 6.0 told the clusters of a device tree as packages. One whose map of
	// CPUs begins with clusters has a single socket (Devicetree bindings, cpu-topology).
	clusters := t.exists("proc/device-tree/cpus/cpu-map/cluster0")
	if socket, ok := t.number(at + "physical_package_id"); ok && socket > 0 && !clusters { // -1: unknown, on some arm64
		l.socket = int(socket)
	}
	// core_cpus_list is the newer name (Linux 5.0) of thread_siblings_list.
	for _, name := range []string{"core_cpus_list", "thread_siblings_list"} {
		if l.core == "" {
			l.core = t.line(at + name)
		}
	}
	if l.core == "" {
		l.core = fmt.Sprint(cpu)
		for _, e := range info.cpus {
			if e.cpu == cpu {
				l.core, l.socket = fmt.Sprintf("%d/%d", e.socket, e.core), max(e.socket, 0)
			}
		}
	}
	return l
}

// unlessRenumbered is the topology, or that of the allowed CPUs alone if it lacks one of them: as the process runs on
// these, the list of online CPUs must have other numbers, as with lxcfs, which renumbers the CPUs of a container.
func (t topology) unlessRenumbered(tree tree, info cpuInfo, allowed []int) topology {
	online := t.online()
	if !slices.ContainsFunc(allowed, func(cpu int) bool { return !slices.Contains(online, cpu) }) {
		return t
	}
	var real topology
	for _, cpu := range allowed {
		real.cpus = append(real.cpus, place(tree, info, cpu))
	}
	return real
}

// online lists the logical CPUs in ascending order.
func (t topology) online() []int {
	var cpus []int
	for _, c := range t.cpus {
		cpus = append(cpus, c.cpu)
	}
	return sortedSet(cpus)
}

// siblings lists the threads of each core, the core with the lowest CPU first.
func (t topology) siblings() [][]int {
	index := map[string]int{}
	var cores [][]int
	for _, c := range t.cpus {
		i, ok := index[c.core]
		if !ok {
			i = len(cores)
			index[c.core] = i
			cores = append(cores, nil)
		}
		cores[i] = append(cores[i], c.cpu)
	}
	return cores
}

func (t topology) sockets() int {
	var seen []int
	for _, c := range t.cpus {
		if !slices.Contains(seen, c.socket) {
			seen = append(seen, c.socket)
		}
	}
	return len(seen)
}
