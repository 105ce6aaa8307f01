package profiles

import "hwcal/schema"

// cache is a level of cache of data, as the description of a device has it. It is written anew from the README, as the
// levels that a run tells are checked by it.
type cache struct {
	level schema.Level
	size  int64 // bytes of one
	count int
	cores int // of the machine; 0 for a GPU, all of which shares its cache
}

// cachesOf a device, innermost first; of several classes of cores the smallest cache counts.
func cachesOf(d *schema.Device) []cache {
	if d.CPU == nil {
		if d.GPU.L2Bytes == 0 {
			return nil
		}
		return []cache{{level: schema.L2, size: d.GPU.L2Bytes, count: 1}}
	}
	var all []cache
	for i, level := range []schema.Level{schema.L1, schema.L2, schema.L3, schema.L4} {
		found := cache{level: level, cores: d.CPU.Cores}
		for _, c := range d.CPU.Caches {
			if c.Level != i+1 || c.Type == "instruction" {
				continue
			}
			found.count += c.Count
			if found.size == 0 || c.SizeBytes < found.size {
				found.size = c.SizeBytes
			}
		}
		if found.size > 0 {
			all = append(all, found)
		}
	}
	return all
}

// capacity in bytes of the caches of the level that threads can fill together: each thread takes a core of its own as
// long as there are any, and the cores share the caches evenly.
func (c cache) capacity(threads int) int64 {
	return max(c.size, c.size*int64(c.count*min(threads, c.cores))/int64(max(1, c.cores)))
}
