package main

import (
	"hwcal/schema"
)

// deviceCatalog lists the devices, and which kinds were looked for in vain.
type deviceCatalog struct {
	devices     []deviceKernels
	unavailable []schema.Unavailable
}

type deviceEntry struct {
	ID       string      `json:"id"`
	Kind     schema.Kind `json:"kind"`
	Name     string      `json:"name"`
	Measured bool        `json:"measured"`
	Reason   string      `json:"reason,omitempty"` // why it cannot be measured
}

func newDeviceCatalog() (catalog, error) {
	m, devices, err := machineKernels()
	return deviceCatalog{devices, m.Unavailable}, err
}

func (c deviceCatalog) list() []deviceEntry {
	all := make([]deviceEntry, len(c.devices))
	for i, d := range c.devices {
		all[i] = deviceEntry{ID: d.ID, Kind: d.Kind, Name: d.Name, Measured: d.err == nil}
		if d.err != nil {
			all[i].Reason = d.err.Error()
		}
	}
	return all
}

func (c deviceCatalog) entries() any {
	return struct {
		Devices     []deviceEntry        `json:"devices"`
		Unavailable []schema.Unavailable `json:"unavailable"`
	}{c.list(), c.unavailable}
}

func (c deviceCatalog) print(p *page) {
	g := newGrid(words("device"), words("kind"), words("measured"), words("name"))
	for _, e := range c.list() {
		measured := "yes"
		if !e.Measured {
			measured = "no: " + e.Reason
		}
		g.row(e.ID, e.Kind, measured, e.Name)
	}
	p.grid(g)
	p.unavailable("Other devices", c.unavailable)
}
