package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"hwcal/schema"
)

// place is a column of the bandwidth table.
type place struct {
	threads int
	level   schema.Level
}

// bandwidthColumns is how many places or sizes fit side by side on the widest page.
const bandwidthColumns = 10

// bandwidth prints the best rate of each kernel on each level, a group of columns
// for each number of threads.
func (p *page) bandwidth(d *schema.Device) {
	if len(d.Bandwidth) == 0 {
		return
	}
	best := map[place]map[string]*schema.Bandwidth{}
	var kernels []string
	var places []place
	var levels []schema.Level
	for i := range d.Bandwidth {
		b := &d.Bandwidth[i]
		at := place{b.Threads, b.Level}
		if best[at] == nil {
			best[at] = map[string]*schema.Bandwidth{}
			places = append(places, at)
		}
		if !slices.Contains(kernels, b.Pattern) {
			kernels = append(kernels, b.Pattern)
		}
		if !slices.Contains(levels, b.Level) {
			levels = append(levels, b.Level)
		}
		if old := best[at][b.Pattern]; old == nil || b.Better(old) {
			best[at][b.Pattern] = b
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.threads, b.threads), cmp.Compare(slices.Index(levels, a.level), slices.Index(levels, b.level)))
	})
	p.heading("Bandwidth by level, best of the working sets, GB/s (STREAM's bytes: write-allocate is not counted)")
	flagged := false
	for some := range slices.Chunk(places, p.beside(bandwidthColumns)) {
		g := newGrid(words("kernel"))
		g.groups = []string{""}
		for _, at := range some {
			g.columns = append(g.columns, numbers(string(at.level)))
			g.groups = append(g.groups, threadCount(at.threads))
		}
		for _, k := range kernels {
			row := []any{k}
			for _, at := range some {
				value := absent
				if b := best[at][k]; b != nil {
					value = figure(b.GBps.Best)
					if b.Credence() < schema.Sound {
						value, flagged = value+"!", true
					}
				}
				row = append(row, value)
			}
			g.row(row...)
		}
		p.grid(g)
	}
	if flagged {
		p.line(" ! no rate of the level as it stands, see the warnings")
	}
}

// latency prints the time of a dependent load by level.
func (p *page) latency(d *schema.Device) {
	g := newGrid(words("level"), numbers("working set"), numbers("pages"), numbers("best"), numbers("median"), words("95% interval"), words(""))
	for i := range d.Latency {
		l := &d.Latency[i]
		g.row(l.Level, capacity(l.WorkingSetBytes), orAbsent(l.PageBytes), figure(l.Nanoseconds.Best), figure(l.Nanoseconds.Median),
			interval(l.Nanoseconds), join(l.Warnings, ", "))
	}
	p.section(g, "Latency of a dependent load, 1 thread, ns")
}

// launches prints what it costs a GPU to launch a kernel.
func (p *page) launches(d *schema.Device) {
	g := newGrid(words("launch"), numbers("best"), numbers("median"), words("95% interval"), words(""))
	for i := range d.Launch {
		l := &d.Launch[i]
		g.row(l.Mode, figure(l.Microseconds.Best), figure(l.Microseconds.Median), interval(l.Microseconds), join(l.Warnings, ", "))
	}
	p.section(g, "Launch of a kernel that does nothing, us")
}

// numa prints what the cores of each node get from the memory of each.
func (p *page) numa(d *schema.Device) {
	g := newGrid(words("cores of"), words("memory of"), words("threads"), numbers("GB/s"), numbers("ns"), words(""))
	for i := range d.NUMA {
		n := &d.NUMA[i]
		g.row(fmt.Sprintf("node %d", n.Node), fmt.Sprintf("node %d", n.MemoryNode), n.Threads,
			figure(n.GBps.Best), figure(n.Nanoseconds.Best), join(n.Warnings, ", "))
	}
	p.section(g, "NUMA, best read bandwidth and latency of a dependent load")
}

// bandwidthCurve prints the best read bandwidth over the working set, a line for each number
// of threads with a curve: one point a level is none.
func (p *page) bandwidthCurve(d *schema.Device) {
	rates := map[int]map[int64]string{}
	var sizes []int64
	for i := range d.Bandwidth {
		b := &d.Bandwidth[i]
		if b.Pattern != "read" {
			continue
		}
		if rates[b.Threads] == nil {
			rates[b.Threads] = map[int64]string{}
		}
		rates[b.Threads][b.WorkingSetBytes] = figure(b.GBps.Best)
	}
	const curved = 10
	maps.DeleteFunc(rates, func(_ int, of map[int64]string) bool { return len(of) < curved })
	for _, of := range rates {
		for bytes := range of {
			sizes = append(sizes, bytes)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if len(sizes) == 0 {
		return
	}
	p.heading("Read bandwidth over the working set, best GB/s")
	for some := range slices.Chunk(sizes, p.beside(bandwidthColumns)) {
		g := newGrid(words("threads"))
		for _, bytes := range some {
			g.columns = append(g.columns, numbers(capacity(bytes)))
		}
		for _, threads := range slices.Sorted(maps.Keys(rates)) {
			row := []any{threadNumber(threads)}
			for _, bytes := range some {
				rate := rates[threads][bytes]
				if rate == "" {
					rate = absent
				}
				row = append(row, rate)
			}
			g.row(row...)
		}
		p.grid(g)
	}
}
