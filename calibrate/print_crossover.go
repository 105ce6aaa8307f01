package main

import "hwcal/schema"

// crossovers prints along what a pattern was swept, and where its verdict flips.
func (p *page) crossovers(d *schema.Device) {
	g := newGrid(words("pattern"), words("dtype"), numbers("n"), words("verdict"))
	for _, x := range d.FusionCrossovers {
		g.row(x.Pattern, x.DType, len(x.Points), x.Reason)
	}
	p.section(g, "Where the verdict flips as shapes grow, of which n were measured")
}
