package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/hwdetect"
	"hwcal/schema"
)

// catalogs are what can be listed. Each gives its entries as JSON has them and
// prints them for a person.
var catalogs = []struct {
	name  string
	build func() (catalog, error)
}{
	{"patterns", func() (catalog, error) { return patternCatalog(bench.Patterns()), nil }},
	{"ops", func() (catalog, error) { return patternCatalog(bench.Operations()), nil }},
	{"kernels", newKernelCatalog},
	{"dtypes", newDTypeCatalog},
	{"sizes", func() (catalog, error) { return sizeCatalog{}, nil }},
	{"devices", newDeviceCatalog},
}

type catalog interface {
	entries() any
	print(*page)
}

func listCommand() *cli.Command {
	cmd := &cli.Command{
		Name:      "list",
		Usage:     "list what can be measured and with what",
		ArgsUsage: strings.Join(catalogNames(), "|"),
		Flags:     []cli.Flag{jsonFlag()},
		Action:    listAction,
	}
	cmd.BashComplete = func(c *cli.Context) {
		if c.NArg() > 0 {
			cli.DefaultCompleteWithFlags(cmd)(c)
			return
		}
		for _, name := range catalogNames() {
			fmt.Fprintln(c.App.Writer, name)
		}
	}
	return cmd
}

func catalogNames() []string {
	var names []string
	for _, c := range catalogs {
		names = append(names, c.name)
	}
	return names
}

func listAction(c *cli.Context) error {
	want := strings.Join(catalogNames(), ", ")
	if c.NArg() != 1 {
		return usagef("list wants one of %s", want)
	}
	for _, k := range catalogs {
		if k.name != c.Args().First() {
			continue
		}
		all, err := k.build()
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return writeJSON(c.App.Writer, all.entries())
		}
		out := newPage(c.App.Writer)
		all.print(out)
		_, err = out.WriteTo(c.App.Writer)
		return err
	}
	return usagef("cannot list %q, want one of %s", c.Args().First(), want)
}

// deviceKernels is a device and its kernels, or why it cannot be opened.
type deviceKernels struct {
	schema.Device
	kernels []bench.KernelInfo
	err     error
}

// machineKernels are the devices of this machine.
func machineKernels() (hwdetect.Machine, []deviceKernels, error) {
	m, err := hwdetect.This().Detect(hwdetect.Options{})
	if err != nil {
		return m, nil, err
	}
	all := make([]deviceKernels, len(m.Devices))
	for i, dev := range m.Devices {
		all[i].Device = dev
		b, err := openDevice(&all[i].Device)
		if err != nil && dev.Kind == schema.CPU {
			return m, nil, err
		}
		if err != nil {
			all[i].err = err
			continue
		}
		all[i].kernels = b.Kernels()
		if err := b.Close(); err != nil {
			return m, nil, err
		}
	}
	return m, all, nil
}

// kernelOf finds the kernel of that name, or nil.
func kernelOf(kernels []bench.KernelInfo, chain string, d schema.DType) *bench.KernelInfo {
	for i, k := range kernels {
		if k.Chain == chain && k.DType == d {
			return &kernels[i]
		}
	}
	return nil
}
