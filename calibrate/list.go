package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/bench/cpu"
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
	{"devices", newDeviceCatalog},
}

type catalog interface {
	entries() any
	print(*page)
}

func listCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list what can be measured and with what",
		ArgsUsage: strings.Join(catalogNames(), "|"),
		Flags:     []cli.Flag{jsonFlag()},
		Action:    listAction,
	}
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

// machineKernels is this machine and the kernels of its CPU.
func machineKernels() (hwdetect.Machine, []bench.KernelInfo, error) {
	m, err := hwdetect.This().Detect(hwdetect.Options{})
	if err != nil {
		return m, nil, err
	}
	b, err := cpu.New(m.Devices[0])
	if err != nil {
		return m, nil, err
	}
	defer b.Close()
	return m, b.Kernels(), nil
}

// kernelOf finds the kernel of a chain, or nil.
func kernelOf(kernels []bench.KernelInfo, chain string, d schema.DType) *bench.KernelInfo {
	for i, k := range kernels {
		if k.Chain == chain && k.DType == d {
			return &kernels[i]
		}
	}
	return nil
}
