package main

import (
	"fmt"
	"math"
	"time"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/hwdetect"
	"hwcal/schema"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure one operation or fusion pattern and print it",
		ArgsUsage: "OP",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Value: "cpu", Usage: "`DEVICE`: cpu, cuda or cuda:N"},
			&cli.StringFlag{Name: "shape", Usage: "`SHAPE`, as 512x1024x1024 or m=512,n=1024,k=1024 (default: those of a default run)"},
			&cli.StringSliceFlag{Name: "dtype", Usage: "`DTYPE`s to measure in (default: all that the device supports)"},
			&cli.IntFlag{Name: "threads", Usage: "`N` threads (default: all that affinity and cgroup allow)"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the input data and of the order of the measurements"},
			&cli.DurationFlag{Name: "budget", Usage: "time for each shape and dtype (default: that of a default run)"},
			&cli.IntFlag{Name: "control", Usage: "compare the unfused side of a pattern with itself `N` times instead"},
			&cli.Float64Flag{Name: "effect", Usage: "give one side of a control so much more work, a `SHARE` of 1"},
		},
		Action: benchAction,
	}
}

func benchAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("bench wants one operation or pattern, see calibrate list ops and calibrate list patterns")
	}
	pattern, err := bench.Lookup(c.Args().First())
	if err != nil {
		return usagef("%v", err)
	}
	shapes := pattern.Shapes(schema.Default)
	if c.IsSet("shape") {
		shape, err := bench.ParseShape(c.String("shape"), pattern.Dims)
		if err != nil {
			return usagef("--shape: %v", err)
		}
		shapes = []bench.Shape{shape}
	}
	dtypes, err := parseDTypes(c.StringSlice("dtype"))
	if err != nil {
		return usagef("--dtype: %v", err)
	}
	if c.Int("control") < 0 || c.Int("control") > 0 && !pattern.Fusion() {
		return usagef("--control %d: want a fusion pattern and a positive number", c.Int("control"))
	}
	if e := c.Float64("effect"); c.IsSet("effect") && (!(e >= 0.001 && e <= 1) || c.Int("control") == 0) {
		return usagef("--effect %g: want a share from 0.001 to 1, and --control", e)
	}
	machine, err := hwdetect.This().Detect(hwdetect.Options{Threads: c.Int("threads")})
	if err != nil {
		return usagef("%v", err)
	}
	devices, err := selectDevices(machine, c.String("device"))
	if err != nil {
		return err
	}
	dev := devices[0]
	backend, err := openDevice(&dev)
	if err != nil {
		return err
	}
	defer backend.Close()
	b := benchRun{
		Context: c, pattern: pattern,
		place:  bench.Place{Threads: threadsOf(dev)},
		runner: bench.Runner{Backend: backend, Settings: bench.SettingsOf(schema.Default), Now: time.Now, Memory: memoryOf(dev, machine.Host)},
	}
	if c.IsSet("budget") {
		b.runner.Settings.CaseBudget, b.runner.Settings.PairBudget = c.Duration("budget"), c.Duration("budget")
	}
	if pattern.Group != "memory" { // those have their own element type
		if dtypes, err = supported(&dev, backend, dtypes); err != nil {
			return err
		}
	} else {
		dtypes = []schema.DType{schema.FP64}
	}
	for _, shape := range shapes {
		for _, d := range dtypes {
			if err := b.measure(shape, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchRun measures one pattern.
type benchRun struct {
	*cli.Context
	pattern bench.Pattern
	place   bench.Place
	runner  bench.Runner
}

func (b benchRun) measure(shape bench.Shape, d schema.DType) error {
	chain, err := b.pattern.In(d).Build(shape, b.place)
	if err != nil {
		return err
	}
	c := bench.Case{Chain: chain, DType: d, Place: b.place, Seed: b.Uint64("seed")}
	if !b.pattern.Fusion() {
		m, err := b.runner.Measure(b.Context.Context, c)
		if err != nil {
			return err
		}
		printMeasurement(b.App.Writer, b.pattern, shape, c, m)
		return nil
	}
	if n := b.Int("control"); n > 0 {
		return b.control(n, shape, c)
	}
	cmp, err := b.runner.Compare(b.Context.Context, c, b.runner.Settings.PairBudget)
	if err != nil {
		return err
	}
	printPair(b.App.Writer, b.pattern, shape, c, cmp)
	return nil
}

// control runs trials whose outcome is known: the same code on both sides, or with a
// share of work more on one. A verdict that is wrong is a fault of the method; an
// inconclusive one is none, but says nothing.
func (b benchRun) control(n int, shape bench.Shape, c bench.Case) error {
	part := 0
	if e := b.Float64("effect"); e > 0 {
		part = int(math.Round(1 / e))
	}
	var verdicts []schema.Verdict
	for i := range n {
		c.Seed = b.Uint64("seed") + uint64(i)
		cmp, err := b.runner.Control(b.Context.Context, c, b.runner.Settings.PairBudget, part)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, cmp.Verdict)
		printPair(b.App.Writer, b.pattern, shape, c, cmp)
	}
	kind := schema.SameCode
	if part > 0 {
		kind = schema.KnownEffect
	}
	right, wrong := 0, 0
	for _, v := range verdicts {
		switch schema.OutcomeOf(kind, v) {
		case schema.ControlPassed:
			right++
		case schema.ControlFailed:
			wrong++
		}
	}
	fmt.Fprintf(b.App.Writer, "%d of %d controls passed, %d failed, %d were undecided\n", right, n, wrong, n-right-wrong)
	if wrong > 0 {
		return fmt.Errorf("%d of %d controls failed", wrong, n)
	}
	return nil
}
