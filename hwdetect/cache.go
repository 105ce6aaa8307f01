package hwdetect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	cputree "github.com/klauspost/cpuid/v2/topology"

	"hwcal/schema"
)

// readCaches reads sysfs, or else takes what CPUID told.
func readCaches(t tree, top topology, id CPUID) []schema.Cache {
	var list cacheList
	seen := map[string]bool{} // one cache appears under each CPU that shares it
	for _, cpu := range top.online() {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache", cpu)
		for _, i := range t.numbered(dir, "index") {
			at := fmt.Sprintf("%s/index%d/", dir, i)
			c, ok := parseCache(t.line(at+"level"), t.line(at+"type"), t.line(at+"size"))
			if !ok {
				continue
			}
			shared := t.line(at + "shared_cpu_list")
			if shared == "" {
				shared = strconv.Itoa(cpu)
			}
			key := fmt.Sprint(c.Level, c.Type, shared)
			if seen[key] {
				continue
			}
			seen[key] = true
			if cpus, err := parseCPUList(shared); err == nil {
				c.SharedBy = max(len(cpus), 1)
			}
			if n, ok := t.number(at + "coherency_line_size"); ok && n > 0 {
				c.LineBytes = n
			}
			if n, ok := t.number(at + "ways_of_associativity"); ok && n > 0 && n < 1<<16 { // 0: fully associative
				c.Ways = int(n)
			}
			list.add(c)
		}
	}
	if len(list) == 0 {
		list = slices.Clone(id.Caches)
	}
	return list.sorted()
}

// parseCache reads the texts of level, type and size ("48K", "32M") in sysfs.
func parseCache(level, kind, size string) (schema.Cache, bool) {
	c := schema.Cache{Type: strings.ToLower(kind), SharedBy: 1}
	n, err := strconv.Atoi(level)
	if err != nil || n < 1 || n > 9 || !slices.Contains(cacheTypes, c.Type) {
		return c, false
	}
	c.Level = n
	unit := int64(1)
	for i, suffix := range []string{"K", "M", "G"} {
		if s, ok := strings.CutSuffix(size, suffix); ok {
			size, unit = s, 1<<(10*(i+1))
		}
	}
	c.SizeBytes, err = strconv.ParseInt(size, 10, 64)
	if err != nil || c.SizeBytes < 1 || c.SizeBytes > math.MaxInt64/unit {
		return c, false
	}
	c.SizeBytes *= unit
	return c, true
}

var cacheTypes = []string{"data", "instruction", "unified"}

// cacheList counts like caches.
type cacheList []schema.Cache

func (l *cacheList) add(c schema.Cache) {
	for i, have := range *l {
		c.Count = have.Count
		if have == c {
			(*l)[i].Count++
			return
		}
	}
	c.Count = 1
	*l = append(*l, c)
}

func (l *cacheList) addCPUID(caches []cputree.Cache) {
	for _, c := range caches {
		kind := strings.ToLower(c.Type.String())
		if c.Level < 1 || c.Size < 1 || !slices.Contains(cacheTypes, kind) {
			continue
		}
		l.add(schema.Cache{
			Level: c.Level, Type: kind, SizeBytes: int64(c.Size), LineBytes: int64(c.LineSize), Ways: c.Ways,
			SharedBy: max(c.SharedThreads, 1),
		})
	}
}

// sorted is the list by level and type, the larger first; never nil.
func (l cacheList) sorted() []schema.Cache {
	caches := append([]schema.Cache{}, l...)
	slices.SortStableFunc(caches, func(a, b schema.Cache) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Type, b.Type), cmp.Compare(b.SizeBytes, a.SizeBytes))
	})
	return caches
}
