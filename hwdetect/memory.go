package hwdetect

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// memory is the memory of the machine and what of it the process can still take,
// both in bytes; 0 if unknown, 1 if nothing is left. A limit bounds what is left
// also where the machine does not tell what is available.
func memory(t tree, l limits) (total, available int64) {
	l.room = min(l.room, roomOfNodes(t))
	b := t.bytes("proc/meminfo")
	total, available = parseMeminfo(b, "MemTotal"), parseMeminfo(b, "MemAvailable")
	switch {
	case available > 0:
		available = min(available, l.room)
	case l.memory == 0:
		return total, 0
	case total > 0:
		available = min(total, l.room)
	default:
		available = l.room
	}
	return total, max(available, 1)
}

// roomOfNodes is what is left, in bytes, on the NUMA nodes to which the process is confined: it is killed where it
// takes more, whatever the other nodes have. Where it may use all of them, there is no such bound.
func roomOfNodes(t tree) (room int64) {
	mems := parseAllowed(t.bytes("proc/self/status"), "Mems_allowed_list:")
	confined := false
	for _, n := range numaNodes(t) {
		if slices.Contains(mems, n.ID) {
			room += n.MemoryAvailableBytes
		} else if n.MemoryBytes > 0 {
			confined = true
		}
	}
	if !confined || room == 0 {
		return math.MaxInt64
	}
	return room
}

// parseMeminfo finds a field of /proc/meminfo or of a node's meminfo, whose
// lines start with "Node 0 ", and returns it in bytes; 0 if it is not there.
func parseMeminfo(b []byte, field string) int64 {
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "Node" {
			words = words[2:]
		}
		if len(words) < 2 || words[0] != field+":" {
			continue
		}
		kib, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil || kib < 0 || kib > 1<<50 {
			return 0
		}
		return kib << 10 // "kB" is 1024 bytes (proc_meminfo(5))
	}
	return 0
}
