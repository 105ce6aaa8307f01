package main

import (
	"io"

	"hwcal/schema"
)

// printProfile prints the tables of a profile for a person.
func printProfile(w io.Writer, p *schema.Profile) error {
	out := newPage(w)
	m := p.Metadata
	out.line("%s", m.HardwareName)
	out.line("%s, mode %s, took %s, peak memory %s, calibrate %s, seed %d",
		m.CalibrationDate.UTC().Format("2006-01-02 15:04 UTC"), m.Mode, seconds(m.DurationSeconds),
		orAbsent(m.PeakMemoryBytes), m.ToolVersion, m.Seed)
	for i := range p.Devices {
		d := &p.Devices[i]
		out.heading("%s", deviceLine(d))
		out.summary(d)
		out.peaks(d)
		out.matmuls(d)
		out.bandwidth(d)
		out.bandwidthCurve(d)
		out.latency(d)
		out.numa(d)
		out.launches(d)
		out.operations(d)
		out.power(d.Power)
		out.energy(d)
		out.fusions(d)
		out.roofline(d)
		out.crossovers(d)
		out.controls(d.Quality)
		out.unavailable("Unavailable", d.Unavailable)
	}
	out.warnings(p)
	_, err := out.WriteTo(w)
	return err
}

func orAbsent(bytes int64) string {
	if bytes == 0 {
		return absent
	}
	return capacity(bytes)
}

// deviceLine says in a line what a device is and how much of it was used.
func deviceLine(d *schema.Device) string {
	s := d.ID + ": " + d.Name
	if c := d.CPU; c != nil {
		s += ", " + plural(c.Cores, "core") + ", " + plural(c.Threads, "thread") + ", used CPUs " + ranges(c.UsedCPUs)
	}
	if g := d.GPU; g != nil && g.MemoryBytes > 0 {
		s += ", " + capacity(g.MemoryBytes)
	}
	return s
}

// summary prints the figures that most readers need.
func (p *page) summary(d *schema.Device) {
	s, theory := d.Summary, d.Theoretical
	g := newGrid(words("dtype"), numbers("peak GFLOPS"), numbers("theoretical"), numbers("matmul GFLOPS"), numbers("of peak"), numbers("ridge FLOP/byte"))
	for _, t := range schema.DTypes() {
		peak, matmul := s.PeakGFLOPS[t], s.MatmulGFLOPS[t]
		if peak == 0 && matmul == 0 {
			continue
		}
		share := 0.0
		if peak > 0 {
			share = matmul / peak
		}
		g.row(t, measured(peak), measured(theory.PeakGFLOPS[t].Value), measured(matmul), percent(share), measured(s.RidgePoint[t]))
	}
	p.grid(g)
	if s.BandwidthGBps > 0 {
		of := ""
		if theory.BandwidthGBps != nil {
			of = ", theoretical " + figure(theory.BandwidthGBps.Value)
		}
		p.line(" memory bandwidth %s GB/s (%s)%s", figure(s.BandwidthGBps), s.BandwidthOf, of)
	}
}
