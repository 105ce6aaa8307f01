package main

import (
	"strconv"

	"hwcal/schema"
)

// dtypeCatalog lists the element types and what each device can do in them.
type dtypeCatalog struct {
	devices []string
	types   []dtypeEntry
}

type dtypeEntry struct {
	Name         schema.DType           `json:"name"`
	Bytes        int64                  `json:"bytes"`
	UnitRoundoff float64                `json:"unit_roundoff,omitempty"`
	Devices      map[string]dtypeDevice `json:"devices"`
}

// dtypeDevice says whether the device computes in the type at all, and whether
// this program has kernels for it.
type dtypeDevice struct {
	Hardware bool `json:"hardware"`
	Measured bool `json:"measured"`
}

func newDTypeCatalog() (catalog, error) {
	_, devices, err := machineKernels()
	if err != nil {
		return nil, err
	}
	var c dtypeCatalog
	for _, dev := range devices {
		c.devices = append(c.devices, dev.ID)
	}
	for _, d := range schema.DTypes() {
		e := dtypeEntry{Name: d, Bytes: d.Bytes(), UnitRoundoff: d.UnitRoundoff(), Devices: map[string]dtypeDevice{}}
		for _, dev := range devices {
			_, hardware := dev.Theoretical.PeakGFLOPS[d]
			measured := kernelOf(dev.kernels, "gemm", d) != nil
			e.Devices[dev.ID] = dtypeDevice{Hardware: hardware || measured, Measured: measured}
		}
		c.types = append(c.types, e)
	}
	return c, nil
}

func (c dtypeCatalog) entries() any { return c.types }

func (c dtypeCatalog) print(p *page) {
	columns := []column{words("dtype"), numbers("bytes"), numbers("unit roundoff")}
	for _, id := range c.devices {
		columns = append(columns, words(id))
	}
	g := newGrid(columns...)
	for _, e := range c.types {
		roundoff := absent
		if e.UnitRoundoff > 0 {
			roundoff = strconv.FormatFloat(e.UnitRoundoff, 'g', 3, 64)
		}
		row := []any{e.Name, e.Bytes, roundoff}
		for _, id := range c.devices {
			row = append(row, e.Devices[id].String())
		}
		g.row(row...)
	}
	p.grid(g)
}

func (d dtypeDevice) String() string {
	switch {
	case d.Measured:
		return "measured"
	case d.Hardware:
		return unsupported + " (the hardware has it)"
	}
	return unsupported
}
