package main

import (
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// kernelCatalog lists every pattern and operation in every dtype, with the
// kernel of each device or the lack of one.
type kernelCatalog []kernelEntry

type kernelEntry struct {
	Device string       `json:"device"`
	Kind   string       `json:"kind"` // pattern, operation or part
	Name   string       `json:"name"`
	Chain  string       `json:"chain"`
	DType  schema.DType `json:"dtype"`
	// Implementation is empty where the device has no kernel.
	Implementation string `json:"implementation,omitempty"`
	Supported      bool   `json:"supported"`
}

func newKernelCatalog() (catalog, error) {
	_, devices, err := machineKernels()
	if err != nil {
		return nil, err
	}
	var all kernelCatalog
	for _, dev := range devices {
		all = append(all, kernelsOf(dev)...)
	}
	return all, nil
}

// kernelsOf lists the kernels of one device.
func kernelsOf(dev deviceKernels) kernelCatalog {
	var all kernelCatalog
	listed := map[string]bool{}
	add := func(kind, name string, in func(d schema.DType) (chain string, k *bench.KernelInfo)) {
		for _, d := range schema.DTypes() {
			chain, k := in(d)
			listed[chain] = true
			e := kernelEntry{Device: dev.ID, Kind: kind, Name: name, Chain: chain, DType: d}
			if k != nil {
				e.Implementation, e.Supported = k.Implementation, true
			}
			all = append(all, e)
		}
	}
	of := func(p bench.Pattern) func(d schema.DType) (string, *bench.KernelInfo) {
		return func(d schema.DType) (string, *bench.KernelInfo) {
			chain := chainOf(p.In(d))
			return chain.String(), bench.KernelOf(dev.kernels, chain, d)
		}
	}
	for _, p := range bench.Patterns() {
		if !p.Network() { // of which the kernels of the others compute parts
			add("pattern", p.Name, of(p))
		}
	}
	for _, p := range bench.Operations() {
		add("operation", p.Name, of(p))
	}
	// What the unfused side of a pattern runs has no name of its own.
	for _, k := range dev.kernels {
		if !listed[k.Chain] {
			add("part", k.Chain, func(d schema.DType) (string, *bench.KernelInfo) { return k.Chain, kernelOf(dev.kernels, k.Chain, d) })
		}
	}
	return all
}

func (c kernelCatalog) entries() any { return c }

// unsupported stands where a device has no kernel.
const unsupported = "unsupported"

func (c kernelCatalog) print(p *page) {
	for i, device := range c.devices() {
		if i > 0 {
			p.WriteByte('\n')
		}
		p.line("%s", device)
		c.printDevice(p, device)
	}
}

// devices in the order of their entries.
func (c kernelCatalog) devices() []string {
	var ids []string
	for _, e := range c {
		if !slices.Contains(ids, e.Device) {
			ids = append(ids, e.Device)
		}
	}
	return ids
}

func (c kernelCatalog) printDevice(p *page, device string) {
	for _, kind := range []string{"pattern", "operation", "part"} {
		columns := []column{words(kind)}
		for _, d := range schema.DTypes() {
			columns = append(columns, words(string(d)))
		}
		g := newGrid(columns...)
		// The entries of a name stand together, one a dtype.
		for i := 0; i < len(c); i += len(schema.DTypes()) {
			if c[i].Kind != kind || c[i].Device != device {
				continue
			}
			row := []any{padded(c[i].Name)}
			for _, e := range c[i : i+len(schema.DTypes())] {
				if e.Supported {
					row = append(row, e.Implementation)
				} else {
					row = append(row, unsupported)
				}
			}
			g.row(row...)
		}
		p.grid(g)
		if kind != "part" {
			p.WriteByte('\n')
		}
	}
}
