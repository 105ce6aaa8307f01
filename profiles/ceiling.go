package profiles

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// place is where something was measured: in a level of memory, on a number of threads.
type place struct {
	level   schema.Level
	threads int
}

// bandwidth are the entries of a device by place, with the codes that warnings of the profile add to their own.
func (c *checker) bandwidth(at string, d *schema.Device) map[place][]schema.Bandwidth {
	entries := map[place][]schema.Bandwidth{}
	for i, b := range d.Bandwidth {
		for _, code := range []schema.Code{schema.Implausible, schema.Cached, schema.WorkersApart} {
			if c.warned(fmt.Sprintf("%s/bandwidth/%d", at, i), nil, code) {
				b.Warnings = append(slices.Clone(b.Warnings), code)
			}
		}
		p := place{b.Level, b.Threads}
		entries[p] = append(entries[p], b)
	}
	return entries
}

// ceiling is the rate that bounds others, a kernel that reached it, and all that did; 0 if there is none.
type ceiling struct {
	gbps    float64
	of      string
	kernels map[string]bool
}

// ceilingOf some entries is that of schema.Ceiling.
func ceilingOf(entries []schema.Bandwidth, of func(*schema.Bandwidth) bool) ceiling {
	best := schema.Ceiling(entries, of)
	if best == nil {
		return ceiling{}
	}
	c := ceiling{best.GBps.Best, best.Pattern, map[string]bool{}}
	for i := range entries {
		if b := &entries[i]; of(b) && b.Credence() == best.Credence() && near(b.GBps.Best, best.GBps.Best) {
			c.kernels[b.Pattern] = true
		}
	}
	return c
}
