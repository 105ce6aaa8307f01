package main

import (
	"fmt"
	"io"
	"strings"

	"hwcal/hwdetect"
	"hwcal/schema"
)

// printMachine prints what a machine is for a person.
func printMachine(w io.Writer, m hwdetect.Machine) error {
	out := newPage(w)
	out.line("%s", hwdetect.HardwareName(m.Devices))
	out.host(m.Host)
	for i := range m.Devices {
		d := &m.Devices[i]
		out.heading("%s: %s", d.ID, d.Name)
		switch {
		case d.CPU != nil:
			out.cpu(d)
		case d.GPU != nil:
			out.gpu(d)
		}
		out.theory(d.Theoretical)
		out.power(d.Power)
		out.unavailable("Unavailable", d.Unavailable)
	}
	out.unavailable("Other devices", m.Unavailable)
	out.preflight(m.Host.Preflight)
	_, err := out.WriteTo(w)
	return err
}

func (p *page) host(h schema.Host) {
	g := newFacts()
	g.fact("system", "%s", strings.TrimSpace(h.OS+" "+h.Kernel)+" "+h.Arch)
	g.fact("hypervisor", "%s", h.Hypervisor)
	g.fact("container", "%s", h.Container)
	g.fact("allowed CPUs", "%s", ranges(h.AllowedCPUs))
	if h.CPUQuota > 0 {
		g.fact("CPU quota", "%s CPUs", figure(h.CPUQuota))
	}
	memory := orAbsent(h.MemoryBytes)
	if h.MemoryAvailableBytes > 0 {
		memory += ", " + capacity(h.MemoryAvailableBytes) + " available"
	}
	if h.MemoryLimitBytes > 0 {
		memory += ", limit " + capacity(h.MemoryLimitBytes)
	}
	g.fact("memory", "%s", memory)
	g.fact("huge pages", "%s", h.TransparentHugepages)
	g.fact("governor", "%s", h.Governor)
	p.grid(g)
}

func (p *page) cpu(d *schema.Device) {
	c := d.CPU
	g := newFacts()
	id := d.Vendor
	if c.Family > 0 {
		id += fmt.Sprintf(" family %d model %d stepping %d", c.Family, c.Model, c.Stepping)
	}
	if c.Microcode != "" {
		id += ", microcode " + c.Microcode
	}
	g.fact("identity", "%s", strings.TrimSpace(id))
	g.fact("cores", "%s, %s, %s", plural(c.Sockets, "socket"), plural(c.Cores, "core"), plural(c.Threads, "thread"))
	g.fact("used CPUs", "%s (%s)", ranges(c.UsedCPUs), plural(len(c.UsedCPUs), "worker"))
	for _, class := range c.CoreClasses {
		if len(c.CoreClasses) > 1 {
			g.fact(class.Name+" cores", "CPUs %s%s", ranges(class.CPUs), mhz(", up to ", class.MaxMHz))
		}
	}
	for _, n := range c.NUMANodes {
		memory := ""
		if n.MemoryBytes > 0 {
			memory = ", " + capacity(n.MemoryBytes)
		}
		g.fact(fmt.Sprintf("NUMA node %d", n.ID), "CPUs %s%s", ranges(n.CPUs), memory)
	}
	g.fact("clock", "%s", strings.TrimPrefix(mhz(", base ", c.BaseMHz)+mhz(", up to ", c.MaxMHz), ", "))
	g.fact("ISA", "%s", strings.Join(c.ISA, " "))
	for _, cache := range c.Caches {
		g.fact(fmt.Sprintf("L%d %s", cache.Level, cache.Type), "%s", cacheLine(cache))
	}
	p.grid(g)
}

func cacheLine(c schema.Cache) string {
	s := fmt.Sprintf("%d x %s", c.Count, capacity(c.SizeBytes))
	if c.Ways > 0 {
		s += fmt.Sprintf(", %d ways", c.Ways)
	}
	if c.LineBytes > 0 {
		s += fmt.Sprintf(", lines of %s", capacity(c.LineBytes))
	}
	return s + ", shared by " + plural(c.SharedBy, "thread")
}

func (p *page) gpu(d *schema.Device) {
	u := d.GPU
	g := newFacts()
	g.fact("identity", "%s", strings.TrimPrefix(d.Vendor+prefixed(", compute capability ", u.ComputeCapability)+prefixed(", ", u.UUID), ", "))
	g.fact("driver", "%s", u.Driver)
	if u.MemoryBytes > 0 {
		g.fact("memory", "%s%s", capacity(u.MemoryBytes), mhz(", up to ", u.MemoryMaxMHz))
	}
	if u.SMs > 0 {
		g.fact("SMs", "%d%s", u.SMs, mhz(", up to ", u.SMMaxMHz))
	}
	if u.PowerLimitWatts > 0 {
		g.fact("power limit", "%s W", figure(u.PowerLimitWatts))
	}
	g.fact("MIG", "%s", onOff(u.MIG))
	g.fact("ECC", "%s", onOff(u.ECC))
	p.grid(g)
}

// theory prints the peaks that the description promises, with what had to be
// assumed.
func (p *page) theory(t schema.Theoretical) {
	g := newGrid(words(""), numbers(""), words(""))
	add := func(name, unit string, peak schema.Peak) {
		from := lines{peak.Source}
		for _, a := range peak.Assumptions {
			from = append(from, "assuming "+a)
		}
		g.row(name, figure(peak.Value)+" "+unit, from)
	}
	for _, d := range schema.DTypes() {
		if peak, ok := t.PeakGFLOPS[d]; ok {
			unit := "GFLOPS"
			if d == schema.INT8 {
				unit = "GOPS"
			}
			add(string(d), unit, peak)
		}
	}
	if t.BandwidthGBps != nil {
		add("bandwidth", "GB/s", *t.BandwidthGBps)
	}
	p.section(g, "Theoretical peaks")
}

func (p *page) power(power schema.Power) {
	g := newFacts()
	g.fact("none", "%s", power.Unavailable)
	for _, m := range power.Meters {
		state := "readable"
		if !m.Readable {
			state = "not readable by this process"
		}
		g.fact(m.Name, "%s, %s", m.Source, state)
	}
	if idle := power.Idle; idle != nil {
		g.fact("idle", "%s W%s", figure(idle.AvgWatts), celsius(", at ", idle.Celsius))
	}
	p.section(g, "Power meters")
}

func (p *page) preflight(checks []schema.Check) {
	g := newGrid(words("check"), words("status"), words("found"), words(""))
	for _, c := range checks {
		found := c.CurrentValue
		if found == "" {
			found = absent
		}
		g.row(c.Name, c.Status, found, c.Message)
	}
	p.section(g, "Preflight")
}

func mhz(label string, value float64) string {
	if value == 0 {
		return ""
	}
	return label + rounded(value) + " MHz"
}

func celsius(label string, degrees float64) string {
	if degrees == 0 {
		return ""
	}
	return label + rounded(degrees) + " °C"
}

func prefixed(label, value string) string {
	if value == "" {
		return ""
	}
	return label + value
}

func onOff(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "on"
	}
	return "off"
}
