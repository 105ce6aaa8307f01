package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/profiles"
	"hwcal/schema"
)

func rooflineCommand() *cli.Command {
	return &cli.Command{
		Name:      "roofline",
		Usage:     "draw what binds a device, and what its operations reach under that, as SVG or PNG",
		ArgsUsage: "FILE",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, DefaultText: "beside the profile, as SVG", Usage: "`FILE`.svg or FILE.png to write; - is standard output, as SVG"},
			&cli.StringFlag{Name: "device", DefaultText: "its first", Usage: "`ID` of a device of the profile"},
			&cli.StringSliceFlag{Name: "dtype", DefaultText: "all that were measured", Usage: "`DTYPE`s to draw"},
			&cli.IntFlag{Name: "threads", DefaultText: "the most that were measured", Usage: "`N` threads"},
		},
		Action: rooflineAction,
	}
}

func rooflineAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("roofline wants one file, not %d; - is standard input", c.NArg())
	}
	if err := named(c, "output", "device"); err != nil {
		return err
	}
	path, output := c.Args().First(), c.String("output")
	switch {
	case output == "" && path == "-":
		return usagef("a profile from standard input has no name for the picture: give it with -o")
	case output == "":
		output = stem(path) + ".svg"
	}
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	if profiles.Stream(output) != nil {
		format = "svg"
	}
	if format != "svg" && format != "png" {
		return usagef("-o %s: want a name that ends in .svg or .png", output)
	}
	if sameFile(path, output) {
		return usagef("-o %s: is the profile itself", output)
	}
	dtypes, err := parseDTypes(c.StringSlice("dtype"))
	if err != nil {
		return usagef("--dtype: %v", err)
	}
	if err := positive(c, "threads"); err != nil {
		return err
	}
	if c.IsSet("output") { // else it lies beside the profile, which is to be missed first
		if err := profiles.Writable(output); err != nil {
			return err
		}
	}
	p, err := loadWarned(c.App.ErrWriter, path)
	if err != nil {
		return err
	}
	d, err := deviceOf(p, c.String("device"))
	if err != nil {
		return err
	}
	threads, err := rooflineThreads(d, c.Int("threads"))
	if err != nil {
		return err
	}
	if c.IsSet("dtype") {
		measured := profiles.RooflineDTypes(d, threads)
		for _, t := range dtypes {
			if !slices.Contains(measured, t) {
				return usagef("--dtype %s: no peak of %s was measured in it, %s; want one of %s", t, d.ID, onThreadCount(threads), join(measured, ", "))
			}
		}
	}
	picture, err := drawRoofline(p, d, profiles.NewRoofline(d, threads, dtypes), format)
	if err != nil {
		return err
	}
	if err := profiles.Write(output, picture); err != nil {
		return err
	}
	if profiles.Stream(output) == nil {
		fmt.Fprintf(c.App.ErrWriter, "calibrate: wrote %s\n", output)
	}
	return nil
}

// deviceOf finds a device of a profile by its ID; none given means the first.
func deviceOf(p *schema.Profile, id string) (*schema.Device, error) {
	var have []string
	for i := range p.Devices {
		if d := &p.Devices[i]; id == "" || d.ID == id {
			return d, nil
		}
		have = append(have, clean(p.Devices[i].ID))
	}
	return nil, usagef("--device %s: not in the profile, which has %s", id, strings.Join(have, ", "))
}

// rooflineThreads checks a number of threads; 0 means the most that were measured.
func rooflineThreads(d *schema.Device, wanted int) (int, error) {
	measured := profiles.RooflineThreads(d)
	switch {
	case len(measured) == 0:
		return 0, fmt.Errorf("%s: neither a peak nor a bandwidth was measured", clean(d.ID))
	case wanted == 0:
		return measured[len(measured)-1], nil
	case slices.Contains(measured, wanted):
		return wanted, nil
	case slices.Equal(measured, []int{0}):
		return 0, usagef("--threads %d: %s is not divided into threads", wanted, clean(d.ID))
	}
	names := make([]string, len(measured))
	for i, n := range measured {
		names[i] = strconv.Itoa(n)
	}
	return 0, usagef("--threads %d: %s was measured with %s", wanted, clean(d.ID), strings.Join(names, ", "))
}

// onThreadCount reads "with 2 threads", "on the whole device".
func onThreadCount(n int) string {
	if n == 0 {
		return "on the whole device"
	}
	return "with " + plural(n, "thread")
}
