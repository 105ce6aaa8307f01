package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/schema"
)

// axes are the dimensions along which an operation can be swept, each with the values that occur in
// networks and the one that stands where nothing is asked for.
var axes = []axis{
	{"batch", []int64{16, 32, 64, 128}, 32},
	{"seq", []int64{256, 512, 1024, 2048}, 512},
	{"dim", []int64{8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, 1024},
}

type axis struct {
	name    string
	values  []int64
	typical int64
}

// namedSizes are squares: X[n,n], or m = n = k of a product.
var namedSizes = []struct {
	name string
	n    int64
}{{"small", 1024}, {"medium", 2048}, {"large", 4096}}

func shapeFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.GenericFlag{Name: "shape", Value: new(once), DefaultText: "those of a default run", Usage: "`SHAPE`, as 512x1024x1024 or m=512,n=1024,k=1024"},
		&cli.StringFlag{Name: "size", Usage: "named `SIZE`, see calibrate list sizes"},
	}
	for _, a := range axes {
		flags = append(flags, &cli.Int64SliceFlag{Name: a.name, Usage: fmt.Sprintf("`N`s of the dimension %s, each with all of the others (typical: %d)", a.name, a.typical)})
	}
	return flags
}

// once is the value of a flag that is given once: of several, all but the last would be lost.
type once string

func (o *once) String() string { return string(*o) }

func (o *once) Set(value string) error {
	if *o != "" {
		return fmt.Errorf("it is given already, as %q", *o)
	}
	*o = once(value)
	return nil
}

// benchShapes are those that the flags ask for.
func benchShapes(c *cli.Context, p bench.Pattern, mode schema.Mode) ([]bench.Shape, error) {
	given := givenShapes(c)
	switch swept := c.IsSet("batch") || c.IsSet("seq") || c.IsSet("dim"); {
	case len(given) == 0 && len(p.Shapes(mode)) > 0:
		return p.Shapes(mode), nil
	case len(given) == 0: // quick runs leave it out
		return p.Shapes(schema.Default), nil
	case len(given) > 1 && !swept, swept && (c.IsSet("shape") || c.IsSet("size")):
		return nil, usagef("%s exclude each other", strings.Join(given, " and "))
	case c.IsSet("shape"):
		s, err := bench.ParseShape(c.Generic("shape").(*once).String(), p.Dims)
		if err != nil {
			return nil, usagef("--shape: %v", err)
		}
		return []bench.Shape{s}, nil
	case c.IsSet("size"):
		return namedShape(p, c.String("size"))
	}
	return sweep(c, p)
}

// givenShapes are the flags that ask for shapes.
func givenShapes(c *cli.Context) (given []string) {
	for _, name := range []string{"shape", "size", "batch", "seq", "dim"} {
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// fillDevice adds the shapes that fill a GPU, as runs do, if none were asked for. Controls take these alone: where launches
// are most of the time, 5% more executions do not take 5% longer.
func (b *benchRun) fillDevice() {
	if b.device.Kind != schema.GPU || b.pattern.Throughput == nil || len(givenShapes(b.Context)) > 0 {
		return
	}
	filling := b.pattern.Throughput(b.mode)
	if b.IsSet("control") {
		b.shapes = nil
	}
	b.shapes = append(filling, b.shapes...)
}

// namedShape is the square of that name.
func namedShape(p bench.Pattern, name string) ([]bench.Shape, error) {
	var names []string
	for _, s := range namedSizes {
		names = append(names, s.name)
		if s.name != name {
			continue
		}
		n := strconv.FormatInt(s.n, 10)
		texts := map[string]string{
			"batch,seq,dim": "1x" + n + "x" + n, "m,n,k": n + "x" + n + "x" + n, "rows,cols": n + "x" + n,
		}
		text, ok := texts[strings.Join(p.Dims, ",")]
		if !ok {
			return nil, usagef("--size: %s has the dimensions %s, of which no square is made; give --shape", p.Name, strings.Join(p.Dims, ", "))
		}
		shape, err := bench.ParseShape(text, p.Dims)
		return []bench.Shape{shape}, err
	}
	return nil, usagef("--size %q: want one of %s", name, strings.Join(names, ", "))
}

// sweep is every combination of what was asked for along the axes.
func sweep(c *cli.Context, p bench.Pattern) ([]bench.Shape, error) {
	texts := []string{""}
	for _, name := range p.Dims {
		i := slices.IndexFunc(axes, func(a axis) bool { return a.name == name })
		if i < 0 {
			return nil, usagef("%s has the dimensions %s, not batch, seq and dim: give --shape", p.Name, strings.Join(p.Dims, ", "))
		}
		values := distinct(c.Int64Slice(name))
		for _, v := range values {
			if v < 1 {
				return nil, usagef("--%s %d: want a number above 0", name, v)
			}
		}
		if len(values) == 0 {
			values = []int64{axes[i].typical}
		}
		var longer []string
		for _, text := range texts {
			for _, v := range values {
				longer = append(longer, fmt.Sprintf("%s %s=%d", text, name, v))
			}
		}
		texts = longer
	}
	var shapes []bench.Shape
	for _, text := range texts {
		s, err := bench.ParseShape(text, p.Dims)
		if err != nil {
			return nil, usagef("%v", err)
		}
		shapes = append(shapes, s)
	}
	return shapes, nil
}

// distinct are the values in their order, each once.
func distinct[T comparable](all []T) []T {
	var kept []T
	for _, v := range all {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// sizeCatalog lists the named sizes and the values along the axes.
type sizeCatalog struct{}

func (sizeCatalog) entries() any {
	type entry struct {
		Name   string  `json:"name"`
		Values []int64 `json:"values"`
	}
	var all struct {
		Sizes []entry `json:"sizes"`
		Axes  []entry `json:"axes"`
	}
	for _, s := range namedSizes {
		all.Sizes = append(all.Sizes, entry{s.name, []int64{s.n, s.n}})
	}
	for _, a := range axes {
		all.Axes = append(all.Axes, entry{a.name, a.values})
	}
	return all
}

func (sizeCatalog) print(p *page) {
	g := newGrid(words("size"), words("means"))
	for _, s := range namedSizes {
		g.row(s.name, fmt.Sprintf("%d x %d; of matmul m = n = k = %d", s.n, s.n, s.n))
	}
	p.grid(g)
	p.WriteByte('\n')
	g = newGrid(words("axis"), words("values in networks"), words("typical"))
	for _, a := range axes {
		g.row(a.name, strings.Trim(fmt.Sprint(a.values), "[]"), a.typical)
	}
	p.grid(g)
}
