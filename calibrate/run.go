package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/hwdetect"
	"hwcal/profiles"
	"hwcal/schema"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "measure this machine and write its profile",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Value: "all", Usage: "`DEVICE`: cpu, cuda, cuda:N or all that can be measured"},
			&cli.BoolFlag{Name: "quick", Usage: "at most 30 s on two cores"},
			&cli.BoolFlag{Name: "full", Usage: "more shapes and more time for each"},
			&cli.StringSliceFlag{Name: "fusion-patterns", Value: cli.NewStringSlice("all"), Usage: "all, none, " + strings.Join(bench.FusionGroups, ", ") + " or `NAME`s"},
			&cli.StringFlag{Name: "shapes", Usage: "`FILE` of shapes by fusion pattern, in place of the mode's; patterns that neither it nor --fusion-patterns names are left out"},
			&cli.StringSliceFlag{Name: "dtype", DefaultText: "all that the device supports", Usage: "`DTYPE`s to measure in"},
			&cli.IntFlag{Name: "threads", DefaultText: "all that affinity and cgroup allow", Usage: "`N` threads of the CPU"},
			&cli.StringFlag{Name: "hardware", Usage: "`NAME` instead of the detected one"},
			&cli.Float64Flag{Name: "peak-gflops", DefaultText: "detected", Usage: "theoretical fp32 peak of the CPU in GFLOPS, where none or a wrong one is detected"},
			&cli.Float64Flag{Name: "peak-bandwidth", DefaultText: "detected", Usage: "theoretical memory bandwidth of the CPU in GB/s, where none or a wrong one is detected"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, DefaultText: "<hardware>.json", Usage: "`FILE` to write; - is standard output"},
			&cli.DurationFlag{Name: "budget", DefaultText: "26s quick, 114s, 14m50s full", Usage: "time for each device"},
			&cli.StringFlag{Name: "resume", Usage: "interrupted profile, a `FILE`, that a --full run with the same flags continues"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the input data and of the order of the measurements"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 3 if a result is implausible or wrong, a step failed, the verdict of a pair is inconclusive, or nothing was measured"},
			&cli.BoolFlag{Name: "no-progress", Usage: "draw no progress bar"},
		},
		Action: runAction,
	}
}

// budgets of the modes, with room for what comes before and after.
var budgets = map[schema.Mode]time.Duration{
	schema.Quick:   26 * time.Second,
	schema.Default: 114 * time.Second,
	schema.Full:    14*time.Minute + 50*time.Second,
}

func runAction(c *cli.Context) error {
	begin := time.Now()
	if begin.Before(profiles.FirstDate) {
		return fmt.Errorf("the clock says %s: set it, as a profile carries its date", begin.Format(time.DateTime))
	}
	o, err := runOptions(c)
	if err != nil {
		return err
	}
	machine, err := hwdetect.This().Detect(hwdetect.Options{
		PeakGFLOPS: c.Float64("peak-gflops"), PeakBandwidth: c.Float64("peak-bandwidth"), Threads: c.Int("threads"),
	})
	if err != nil {
		return usagef("%v", err)
	}
	devices, err := selectDevices(machine, c.String("device"))
	if err != nil {
		return err
	}
	if err := ofCPU(c, devices, "threads", "peak-gflops", "peak-bandwidth"); err != nil {
		return err
	}
	name := strings.TrimSpace(c.String("hardware"))
	if name == "" {
		name = hwdetect.HardwareName(devices)
	}
	standard := hwdetect.Slug(name) + ".json"
	output := cmp.Or(c.String("output"), standard)
	if err := profiles.Writable(output); err != nil {
		return err
	}
	// Who reads the profile, the table or the progress may be gone long before all is measured, and that shall
	// be an error of what is written to it, not the end of what was measured.
	signal.Ignore(syscall.SIGPIPE)
	if check := capped(); check != nil {
		machine.Host.Preflight = append(machine.Host.Preflight, *check)
	}
	p := &schema.Profile{
		Schema: schema.ID, SchemaVersion: schema.Version,
		Metadata: schema.Metadata{
			HardwareName: name, CalibrationDate: begin.UTC().Truncate(time.Second), ToolVersion: toolVersion(),
			Mode: o.Mode, Seed: o.Seed, Fingerprint: schema.Fingerprint(devices),
		},
		Host: machine.Host, Devices: devices, Warnings: []schema.Warning{},
	}
	var old *schema.Profile
	if c.IsSet("resume") {
		if old, err = loadInterrupted(c.String("resume"), p); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		p.Metadata.CalibrationDate = old.Metadata.CalibrationDate
		p.Metadata.DurationSeconds, p.Metadata.PeakMemoryBytes = old.Metadata.DurationSeconds, old.Metadata.PeakMemoryBytes
	}
	if o.Mode == schema.Full {
		keep(c.Context)
	}
	o.Observe = progress(c.App.ErrWriter, c.Bool("no-progress"))
	interrupted, err := measureAll(p, func(i int, dev *schema.Device) ([]schema.Warning, error) {
		o.Resume, o.MemoryBytes = earlier(old, i), memoryOf(*dev, machine.Host)
		return measure(c.Context, dev, o)
	})
	if errors.Is(err, bench.ErrResume) {
		err = usagef("--resume: %s %v", profiles.NameOf(c.String("resume")), err)
	}
	if err != nil && !interrupted {
		return err
	}
	p.Metadata.PeakMemoryBytes = max(p.Metadata.PeakMemoryBytes, peakMemory())
	p.Metadata.DurationSeconds += time.Since(begin).Seconds()
	if interrupted {
		return errors.Join(err, keepInterrupted(p, interruptedName(output, standard, c.String("resume"))))
	}
	return finish(c, p, output)
}

// ofCPU refuses flags that tell something of the CPU where it is not measured.
func ofCPU(c *cli.Context, devices []schema.Device, flags ...string) error {
	if slices.ContainsFunc(devices, func(d schema.Device) bool { return d.Kind == schema.CPU }) {
		return nil
	}
	for _, name := range flags {
		if c.IsSet(name) {
			return usagef("--%s is of the CPU, which --device %s leaves out", name, c.String("device"))
		}
	}
	return nil
}

// capped says that the kernels are not the best that the CPU has, which nothing else in a profile does; nil if they are.
func capped() *schema.Check {
	limit := os.Getenv(cpu.LimitVariable)
	if limit == "" {
		return nil
	}
	return &schema.Check{
		Name: "isa", Status: schema.Warn, CurrentValue: cpu.LimitVariable + "=" + limit, ExpectedValue: "unset",
		Message: "the instruction set of the kernels is capped: the figures are those of a lesser CPU",
	}
}

// runOptions checks the flags before anything is measured.
func runOptions(c *cli.Context) (bench.Options, error) {
	o := bench.Options{Mode: schema.Default, Seed: c.Uint64("seed")}
	if c.Args().Present() {
		return o, usagef("run takes no argument %q", c.Args().First())
	}
	if c.Bool("quick") && c.Bool("full") {
		return o, usagef("--quick and --full exclude each other")
	}
	if c.Bool("quick") {
		o.Mode = schema.Quick
	}
	if c.Bool("full") {
		o.Mode = schema.Full
	}
	if c.IsSet("resume") && o.Mode != schema.Full {
		return o, usagef("--resume continues runs with --full only")
	}
	if err := positive(c, "peak-gflops", "peak-bandwidth", "threads", "budget"); err != nil {
		return o, err
	}
	if err := named(c, "output", "device", "shapes", "resume", "hardware"); err != nil {
		return o, err
	}
	if c.String("shapes") == "-" && c.String("resume") == "-" {
		return o, usagef("--shapes and --resume cannot both be standard input")
	}
	o.Budget = budgets[o.Mode]
	if c.IsSet("budget") {
		o.Budget = c.Duration("budget")
	}
	o.Operations = bench.Singles()
	var err error
	if o.DTypes, err = parseDTypes(c.StringSlice("dtype")); err != nil {
		return o, usagef("--dtype: %v", err)
	}
	if o.Patterns, err = selectPatterns(c); err != nil {
		return o, err
	}
	return o, nil
}

// selectPatterns resolves --fusion-patterns and --shapes: who gives shapes wants these
// patterns, and others only if they are named.
func selectPatterns(c *cli.Context) ([]bench.Pattern, error) {
	ps, err := bench.Select(c.StringSlice("fusion-patterns"))
	if err != nil {
		return nil, usagef("--fusion-patterns: %v", err)
	}
	if !c.IsSet("shapes") {
		return ps, nil
	}
	if !c.IsSet("fusion-patterns") {
		ps = nil
	} else if len(ps) == 0 {
		return nil, usagef("--fusion-patterns none and --shapes exclude each other")
	}
	if ps, err = withShapes(c.String("shapes"), ps); err != nil {
		return nil, fmt.Errorf("--shapes: %w", err)
	}
	return ps, nil
}

// parseDTypes resolves names; none given means all.
func parseDTypes(names []string) ([]schema.DType, error) {
	var ds []schema.DType
	for _, name := range names {
		d, err := schema.ParseDType(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ds, d) {
			ds = append(ds, d)
		}
	}
	if len(ds) == 0 {
		ds = schema.DTypes()
	}
	return ds, nil
}

// finish writes the profile and prints it, checks it as any other, and turns
// --strict into an exit code.
func finish(c *cli.Context, p *schema.Profile, output string) error {
	saved := profiles.Save(output, p)
	table := c.App.Writer
	switch {
	case saved != nil:
		saved = rescue(p, saved) // what cannot be kept can still be read
	case profiles.Stream(output) == nil:
		fmt.Fprintf(c.App.ErrWriter, "calibrate: wrote %s\n", output)
	}
	if profiles.Stream(output) == os.Stdout {
		table = c.App.ErrWriter
	}
	if err := errors.Join(saved, printProfile(table, p)); err != nil {
		return err
	}
	data, err := profiles.Marshal(p)
	if err != nil {
		return err
	}
	if findings := profiles.Validate(data); len(findings) > 0 {
		errs := []error{errors.New("the profile contradicts itself; this is a fault of calibrate, please report it")}
		for _, f := range findings {
			errs = append(errs, fmt.Errorf("%s: %s", f.Path, f.Message))
		}
		return errors.Join(errs...)
	}
	if c.Bool("strict") {
		return strict(p)
	}
	return nil
}

// rescue keeps what was measured where it could not be saved as asked.
func rescue(p *schema.Profile, cause error) error {
	dir, err := os.MkdirTemp("", "calibrate-")
	file := filepath.Join(dir, "profile.json")
	if err == nil {
		if err = profiles.Save(file, p); err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err != nil {
		return fmt.Errorf("%w; nor could it be kept in the temporary folder: %v", cause, err)
	}
	return fmt.Errorf("%w; the profile is in %s instead", cause, file)
}

// strictCodes mark figures that are wrong, and figures that are missing because of a failure; not those that the time of
// the run was too short for, as the user chose that time.
var strictCodes = []schema.Code{schema.Implausible, schema.Mismatch, schema.Failed, schema.DeviceLost}

// strict reports warnings of strictCodes, inconclusive pairs, and devices without any figure. Points of crossovers may be
// inconclusive, as they are where the verdict flips; failed controls need no rule, as they make all pairs inconclusive.
func strict(p *schema.Profile) error {
	var bad []string
	for _, w := range p.Warnings {
		if slices.Contains(strictCodes, w.Code) {
			bad = append(bad, fmt.Sprintf("%s %s: %s", w.Path, w.Code, w.Message))
		}
	}
	for _, d := range p.Devices {
		if len(d.Compute)+len(d.Bandwidth)+len(d.Latency)+len(d.OperationProfiles)+len(d.FusionProfiles) == 0 {
			bad = append(bad, "nothing was measured of "+d.ID)
		}
		for _, f := range d.FusionProfiles {
			if f.Verdict == schema.Inconclusive {
				bad = append(bad, fmt.Sprintf("%s %s %s is inconclusive", f.Pattern, f.DType, f.Shape))
			}
		}
	}
	if len(bad) > 0 {
		return exitError{exitStrict, fmt.Errorf("strict: %s", strings.Join(bad, "; "))}
	}
	return nil
}
