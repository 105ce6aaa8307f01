package main

import (
	"strconv"
	"strings"

	"hwcal/schema"
)

// peaks prints the register peaks.
func (p *page) peaks(d *schema.Device) {
	g := newGrid(words("dtype"), words("threads"), words("kernel"), numbers("best"), numbers("median"), words("95% interval"), numbers("MHz"), words(""))
	for i := range d.Compute {
		c := &d.Compute[i]
		if isMatmul(c) || c.GFLOPS == nil {
			continue
		}
		g.row(c.DType, threads(c), c.Implementation, figure(c.GFLOPS.Best), figure(c.GFLOPS.Median), interval(*c.GFLOPS),
			rounded(c.EffectiveClockMHz), join(c.Warnings, ", "))
	}
	p.section(g, "Peak compute, registers only, GFLOPS")
}

// operations prints every other operation, in both units: which one counts
// depends on the side of the ridge point.
func (p *page) operations(d *schema.Device) {
	g := newGrid(words("operation"), words("dtype"), words("shape"), words("threads"), numbers("median ms"), numbers("GFLOPS"), numbers("GB/s"), words("bound by"), words(""))
	for i := range d.OperationProfiles {
		c := &d.OperationProfiles[i]
		rate, bytes := absent, absent
		if c.GFLOPS != nil {
			rate = figure(c.GFLOPS.Median)
		}
		if c.Bytes > 0 {
			bytes = figure(float64(c.Bytes) / c.LatencyMS.Median / 1e6)
		}
		g.row(c.Operation, c.DType, dims(c.InputShape), threads(c), figure(c.LatencyMS.Median), rate, bytes, boundBy(c), join(c.Warnings, ", "))
	}
	p.section(g, "Operations")
}

func boundBy(c *schema.Compute) string {
	switch {
	case c.ComputeBound != nil && *c.ComputeBound:
		return "compute"
	case c.MemoryBound != nil && *c.MemoryBound:
		return "memory"
	}
	return absent
}

func threads(c *schema.Compute) string {
	return strings.TrimSpace(threadNumber(c.Threads) + " " + c.CoreClass)
}

// threadNumber is a number of threads, of which a GPU has none.
func threadNumber(n int) string {
	if n == 0 {
		return absent
	}
	return strconv.Itoa(n)
}

// threadCount reads "2 threads", "whole device".
func threadCount(n int) string {
	if n == 0 {
		return "whole device"
	}
	return plural(n, "thread")
}

// section prints a grid under its heading, unless it is empty.
func (p *page) section(g *grid, heading string) {
	if len(g.rows) > 0 {
		p.heading("%s", heading)
		p.grid(g)
	}
}
