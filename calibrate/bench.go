package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
		Flags: append(shapeFlags(),
			&cli.StringFlag{Name: "device", Value: "cpu", Usage: "`DEVICE`: cpu, cuda or cuda:N"},
			&cli.StringSliceFlag{Name: "dtype", DefaultText: "all that the device supports", Usage: "`DTYPE`s to measure in"},
			&cli.StringSliceFlag{Name: "implementation", DefaultText: "the best", Usage: "`NAME`s of kernel families or libraries, or all: each is compared with the first"},
			&cli.IntFlag{Name: "threads", DefaultText: "all that affinity and cgroup allow", Usage: "`N` threads"},
			&cli.BoolFlag{Name: "quick", Usage: "less time for each case"},
			&cli.StringFlag{Name: "format", Value: formats[0].name, Usage: "`FORMAT`: " + strings.Join(formatNames(), ", ")},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the input data and of the order of the measurements"},
			&cli.DurationFlag{Name: "budget", DefaultText: "that of a default run", Usage: "time for each shape and dtype"},
			&cli.IntFlag{Name: "control", DefaultText: "none", Usage: "compare the unfused side of a pattern with itself `N` times instead"},
			&cli.Float64Flag{Name: "effect", DefaultText: "none", Usage: "give one side of a control so much more work, a `SHARE` 1/N"},
		),
		Action: benchAction,
	}
}

func benchAction(c *cli.Context) error {
	b, err := newBenchRun(c)
	if err != nil {
		return err
	}
	machine, err := hwdetect.This().Detect(hwdetect.Options{Threads: c.Int("threads")})
	if err != nil {
		return usagef("%v", err)
	}
	devices, err := selectDevices(machine, c.String("device"))
	if err != nil {
		return err
	}
	if len(devices) > 1 || c.String("device") == "all" {
		return usagef("--device %s: bench measures one device: want cpu or cuda:N", c.String("device"))
	}
	b.device = devices[0]
	backend, err := openDevice(&b.device)
	if err != nil {
		return err
	}
	defer backend.Close()
	b.backend, b.place, b.memory = backend, bench.Place{Threads: b.device.AllThreads()}, memoryOf(b.device, machine.Host)
	b.fillDevice()
	if b.chases {
		b.place.Threads = min(1, b.place.Threads)
	}
	if err := b.keepSupported(); err != nil {
		return err
	}
	switch {
	case b.IsSet("control"):
		err = b.controls()
	case b.pattern.Group == "memory":
		err = b.streams()
	default:
		err = b.calibrated()
	}
	if len(b.rows) > 0 {
		err = errors.Join(b.write(b.App.Writer, b.rows), err)
	}
	return err
}

// keepSupported leaves out the types that the device lacks, or its kernels of the pattern, unless they were asked for.
func (b *benchRun) keepSupported() (err error) {
	if b.pattern.Group == "memory" { // those multiply no matrices
		return nil
	}
	had := len(b.device.Unavailable)
	if b.dtypes, err = supported(&b.device, b.backend, b.dtypes); err != nil {
		return err
	}
	var have []schema.DType
	for _, d := range b.dtypes {
		chain, err := b.pattern.In(d).Build(b.shapes[0], b.place)
		if err != nil {
			return err
		}
		if lacking := b.pattern.Lacking(b.backend, d, chain); len(lacking) > 0 {
			b.device.Unavailable = append(b.device.Unavailable, schema.Unavailable{
				What: string(d), Reason: fmt.Sprintf("unsupported: no kernel for %s", strings.Join(lacking, ", ")),
			})
			continue
		}
		have = append(have, d)
	}
	b.dtypes = have
	switch lacking := b.device.Unavailable[had:]; {
	case b.IsSet("dtype") && len(lacking) > 0:
		return fmt.Errorf("--dtype %s: %s", lacking[0].What, lacking[0].Reason)
	case len(have) == 0:
		return fmt.Errorf("%s: device %s has no kernel for it in any type", b.pattern.Name, b.device.ID)
	}
	return nil
}

// benchRun measures one pattern.
type benchRun struct {
	*cli.Context
	pattern         bench.Pattern
	mode            schema.Mode
	shapes          []bench.Shape
	dtypes          []schema.DType
	implementations []string
	effectPart      int  // of a control; 0 for none
	chases          bool // one pointer, so that one thread does
	write           func(w io.Writer, rows []benchRow) error

	device  schema.Device
	backend openBackend
	place   bench.Place
	memory  int64
	rows    []benchRow
}

// newBenchRun checks the flags before anything is opened.
func newBenchRun(c *cli.Context) (*benchRun, error) {
	if c.NArg() != 1 {
		return nil, usagef("bench wants one operation or pattern, see calibrate list ops and calibrate list patterns")
	}
	b := &benchRun{Context: c, mode: schema.Default}
	if c.Bool("quick") {
		b.mode = schema.Quick
	}
	var err error
	if b.pattern, err = bench.Lookup(c.Args().First()); err != nil {
		return nil, usagef("%v", err)
	}
	if err := positive(c, "budget", "threads", "control"); err != nil {
		return nil, err
	}
	if b.shapes, err = benchShapes(c, b.pattern, b.mode); err != nil {
		return nil, err
	}
	for _, s := range b.shapes {
		chain, err := b.pattern.Build(s, bench.Place{Threads: 1})
		if err != nil {
			return nil, usagef("%v", err)
		}
		_, b.chases = chain[0].Params.(bench.ChaseParams)
	}
	if b.chases && c.Int("threads") > 1 {
		return nil, usagef("--threads %d: %s runs on one thread", c.Int("threads"), b.pattern.Name)
	}
	if b.dtypes, err = parseDTypes(c.StringSlice("dtype")); err != nil {
		return nil, usagef("--dtype: %v", err)
	}
	if fp64 := []schema.DType{schema.FP64}; b.pattern.Group == "memory" { // their bytes are those of fp64
		if c.IsSet("dtype") && !slices.Equal(b.dtypes, fp64) {
			return nil, usagef("--dtype: %s moves fp64 and no other type", b.pattern.Name)
		}
		b.dtypes = fp64
	}
	for _, f := range formats {
		if f.name == c.String("format") {
			b.write = f.write
		}
	}
	if b.write == nil {
		return nil, usagef("--format %q: want one of %s", c.String("format"), strings.Join(formatNames(), ", "))
	}
	if b.implementations = distinct(c.StringSlice("implementation")); len(b.implementations) > 0 && (b.pattern.Fusion() || b.pattern.Group == "memory") {
		return nil, usagef("--implementation: want a single operation, not %s", b.pattern.Name)
	}
	if c.IsSet("control") && !b.pattern.Fusion() {
		return nil, usagef("--control: want a fusion pattern, not %s", b.pattern.Name)
	}
	if c.IsSet("effect") {
		if !c.IsSet("control") {
			return nil, usagef("--effect: want --control, too")
		}
		if b.effectPart, err = effectPart(c.Float64("effect")); err != nil {
			return nil, usagef("--effect %g: %w", c.Float64("effect"), err)
		}
	}
	return b, nil
}

func (b *benchRun) settings() bench.Settings {
	s := bench.SettingsOf(b.mode)
	s.Patience = benchBudget // each case waits as long as it may be repeated
	if b.IsSet("budget") {
		s.CaseBudget, s.PairBudget = b.Duration("budget"), b.Duration("budget")
	}
	return s
}

func (b *benchRun) runner() bench.Runner {
	return bench.Runner{Backend: b.backend, Settings: b.settings(), Now: time.Now, Memory: max(1, b.memory/2)}
}

// cases are those of the shapes and types. One that fails costs none of the others.
func (b *benchRun) cases(each func(bench.Shape, bench.Case) error) error {
	var failed []error
	for _, s := range b.shapes {
		for _, d := range b.dtypes {
			chain, err := b.pattern.In(d).Build(s, b.place)
			if err != nil {
				return err
			}
			if err := each(s, bench.Case{Chain: chain, Parts: b.pattern.Parts(chain, d, b.backend), DType: d, Place: b.place, Seed: b.Uint64("seed")}); err != nil {
				failed = append(failed, fmt.Errorf("%s %s %s: %w", b.pattern.Name, d, s, err))
			}
			if err := b.Context.Context.Err(); err != nil {
				return err
			}
		}
	}
	return errors.Join(failed...)
}

// streams measures kernels of bandwidth and latency, after what tells the level of their working sets.
func (b *benchRun) streams() error {
	had := len(b.device.Unavailable)
	level, dev, err := b.calibrator().Levels(b.Context.Context, b.pattern)
	if err != nil {
		return err
	}
	r := b.runner()
	err = b.cases(func(s bench.Shape, c bench.Case) error {
		m, err := r.Measure(b.Context.Context, c)
		if err == nil {
			b.rows = append(b.rows, memoryRow(b.pattern, s, c, m, level))
		}
		return err
	})
	return errors.Join(err, leftOut(dev, had))
}

// benchBudget bounds the whole command: each case has a budget of its own.
const benchBudget = time.Hour

// calibrated measures an operation or a pair and its ceilings, and compares the implementations of an
// operation if they are asked for.
func (b *benchRun) calibrated() error {
	units, err := b.units()
	if err != nil {
		return err
	}
	calibrator := b.calibrator()
	had := len(b.device.Unavailable)
	dev, warnings, err := calibrator.Bench(b.Context.Context, b.pattern, units)
	if err != nil && len(dev.OperationProfiles)+len(dev.FusionProfiles) == 0 {
		return err
	}
	for i := range dev.OperationProfiles {
		e := &dev.OperationProfiles[i]
		b.addRow(operationRow(e, b.footprint(e)), fmt.Sprintf("/operation_profiles/%d", i), warnings)
	}
	for i := range dev.FusionProfiles {
		e, fused := &dev.FusionProfiles[i], calibrator.FusedOperation(i)
		b.addRow(pairRow(e, &fused, b.footprint(&fused)), fmt.Sprintf("/fusion_profiles/%d", i), warnings)
	}
	if err == nil {
		err = b.compare(units)
	}
	return errors.Join(err, leftOut(dev, had))
}

// calibrator measures the shapes of the command.
func (b *benchRun) calibrator() *bench.Calibrator {
	b.pattern.Shapes = func(schema.Mode) []bench.Shape { return b.shapes }
	return &bench.Calibrator{
		Runner: b.runner(),
		Device: b.device,
		Options: bench.Options{
			Mode: b.mode, DTypes: b.dtypes, Threads: b.place.Threads, Seed: b.Uint64("seed"), Budget: benchBudget, MemoryBytes: b.memory,
			Observe: progress(b.App.ErrWriter, false),
		},
	}
}

// leftOut is an error with what the device lacks beyond its first `had` entries.
func leftOut(dev schema.Device, had int) (err error) {
	for _, u := range dev.Unavailable[had:] {
		err = errors.Join(err, fmt.Errorf("%s: %s", u.What, u.Reason))
	}
	return err
}

// footprint is the memory of all tensors of what was measured, in bytes.
func (b *benchRun) footprint(e *schema.Compute) int64 {
	shape, err := bench.ParseShape(dims(e.InputShape), b.pattern.Dims)
	if err != nil {
		panic(err) // a shape that was measured
	}
	chain, err := b.pattern.In(e.DType).Build(shape, b.place)
	if err != nil {
		panic(err)
	}
	return bench.Case{Chain: chain, Parts: b.pattern.Parts(chain, e.DType, b.backend), DType: e.DType}.Footprint()
}

// addRow adds the row of an entry, with the warnings about it.
func (b *benchRun) addRow(r benchRow, path string, warnings []schema.Warning) {
	for _, w := range warnings {
		if w.Path == path {
			r.Notes = append(r.Notes, w.Message)
		}
	}
	b.rows = append(b.rows, r)
}

// units are the implementations that are asked for, of those that a type has, and says of which it has none; nil if
// none are asked for.
func (b *benchRun) units() (map[schema.DType][]string, error) {
	if len(b.implementations) == 0 {
		return nil, nil
	}
	units := map[schema.DType][]string{}
	var have []string
	for _, d := range b.dtypes {
		chain, err := b.pattern.In(d).Build(b.shapes[0], b.place)
		if err != nil {
			return nil, err
		}
		units[d] = b.backend.Implementations(chain.String(), d)
		for _, name := range units[d] {
			if !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
	}
	if slices.Contains(b.implementations, "all") {
		if len(b.implementations) > 1 {
			return nil, usagef("--implementation: all goes with no other")
		}
		return units, nil
	}
	for _, name := range b.implementations {
		if why := b.backend.Lacking()[name]; why != "" {
			return nil, usagef("--implementation %s: %s", name, why)
		}
		if !slices.Contains(have, name) {
			return nil, usagef("--implementation %q: want all or some of %s", name, strings.Join(have, ", "))
		}
	}
	for _, d := range b.dtypes {
		var kept []string
		for _, name := range b.implementations {
			if slices.Contains(units[d], name) {
				kept = append(kept, name)
				continue
			}
			fmt.Fprintf(b.App.ErrWriter, "calibrate: %s %s: %s has no kernel for it: skipped\n", b.pattern.Name, d, name)
		}
		units[d] = kept
	}
	return units, nil
}

// compare adds to the rows of each implementation its speedup over the first of the type, measured in
// pairs. Rows are in the order of shapes, types and implementations.
func (b *benchRun) compare(units map[schema.DType][]string) error {
	r := b.runner()
	return b.cases(func(s bench.Shape, c bench.Case) error {
		units := units[c.DType]
		for _, unit := range units[min(1, len(units)):] {
			first, other := c, c
			first.Unit, other.Unit = units[0], unit
			cmp, err := r.CompareImplementations(b.Context.Context, first, other)
			if errors.Is(err, bench.ErrUnsupported) {
				continue // as its row says
			}
			if err != nil {
				return err
			}
			for i := range b.rows {
				row := &b.rows[i]
				if row.Implementation == cmp.Implementation && row.DType == c.DType && row.Shape == s.String() {
					row.Against, row.Speedup, row.Low, row.High = units[0], cmp.Speedup, cmp.Low, cmp.High
					row.warn(cmp.Warnings, cmp.Notes)
				}
			}
		}
		return nil
	})
}
