package main

import (
	"hwcal/hwdetect"
	"hwcal/schema"
)

// deviceCatalog lists the devices, and which kinds were looked for in vain.
type deviceCatalog hwdetect.Machine

type deviceEntry struct {
	ID       string      `json:"id"`
	Kind     schema.Kind `json:"kind"`
	Name     string      `json:"name"`
	Measured bool        `json:"measured"`
}

func newDeviceCatalog() (catalog, error) {
	m, err := hwdetect.This().Detect(hwdetect.Options{})
	return deviceCatalog(m), err
}

func (c deviceCatalog) list() []deviceEntry {
	all := make([]deviceEntry, len(c.Devices))
	for i, d := range c.Devices {
		all[i] = deviceEntry{d.ID, d.Kind, d.Name, d.Kind == schema.CPU}
	}
	return all
}

func (c deviceCatalog) entries() any {
	return struct {
		Devices     []deviceEntry        `json:"devices"`
		Unavailable []schema.Unavailable `json:"unavailable"`
	}{c.list(), c.Unavailable}
}

func (c deviceCatalog) print(p *page) {
	g := newGrid(words("device"), words("kind"), words("measured"), words("name"))
	for _, e := range c.list() {
		measured := "yes"
		if !e.Measured {
			measured = "no: listed only"
		}
		g.row(e.ID, e.Kind, measured, e.Name)
	}
	p.grid(g)
	p.unavailable("Other devices", c.Unavailable)
}
