package main

import "hwcal/schema"

// energy prints what the fastest register peak and the fastest matmul of each type took of power on all
// threads, of those that ran for long enough to tell.
func (p *page) energy(d *schema.Device) {
	g := newGrid(words("operation"), words("dtype"), words("shape"), numbers("watts"), numbers("most"), numbers("GFLOPS/W"), numbers("joules"), numbers("in s"), numbers("°C"))
	for _, operation := range []string{"peak_fma", "matmul"} {
		for _, t := range schema.DTypes() {
			if c := fastestMetered(d, operation, t); c != nil {
				e := c.Energy
				g.row(operation, t, dims(c.InputShape), figure(e.AvgWatts), measured(e.MaxWatts), measured(e.GFLOPSPerWatt),
					figure(e.Joules), figure(e.WindowSeconds), rounded(e.Celsius))
			}
		}
	}
	p.section(g, "Power of the fastest peak and matmul, "+threadCount(d.AllThreads())+", idle power included")
}

// fastestMetered is the fastest entry of an operation on all threads of which the energy is known; nil if there is none.
func fastestMetered(d *schema.Device, operation string, t schema.DType) *schema.Compute {
	var best *schema.Compute
	for i := range d.Compute {
		c := &d.Compute[i]
		if c.Operation == operation && c.DType == t && c.Threads == d.AllThreads() && c.Energy != nil && c.GFLOPS != nil &&
			(best == nil || c.GFLOPS.Best > best.GFLOPS.Best) {
			best = c
		}
	}
	return best
}
