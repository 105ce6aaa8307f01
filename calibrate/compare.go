package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/profiles"
	"hwcal/schema"
)

// exitRegression is the code of --strict: a script that gates on either sees the
// same one.
const exitRegression = exitStrict

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "print what changed between two profiles beyond noise; exit code 3 on a regression",
		ArgsUsage: "OLD NEW",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "print unchanged figures too"},
			jsonFlag(),
		},
		Action: compareAction,
	}
}

func compareAction(c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("compare wants two files, OLD and NEW, not %d; - is standard input", c.NArg())
	}
	if c.Args().Get(0) == "-" && c.Args().Get(1) == "-" {
		return usagef("compare can read one of the files only from standard input")
	}
	if c.Bool("all") && c.Bool("json") {
		return usagef("--all and --json exclude each other: JSON holds every figure")
	}
	var both [2]*schema.Profile
	for i, path := range c.Args().Slice() {
		p, err := loadWarned(c.App.ErrWriter, path)
		if err != nil {
			return err
		}
		both[i] = p
	}
	old, new := both[0], both[1]
	compared := profiles.Compare(old, new)
	if !compared.SameHardware {
		fmt.Fprintf(c.App.ErrWriter, "calibrate: warning: profiles of different hardware: %s and %s\n", hardware(old), hardware(new))
	}
	var err error
	if c.Bool("json") {
		err = writeJSON(c.App.Writer, compared)
	} else {
		err = printDifferences(c.App.Writer, old, new, &compared, c.Bool("all"))
	}
	if err != nil {
		return err
	}
	if compared.Summary.Compared == 0 {
		return errors.New("nothing was compared: the profiles have no figure in common") // a gate must not take this for success
	}
	if n := compared.Summary.Regressions; n > 0 {
		return exitError{exitRegression, errors.New(plural(n, "regression"))}
	}
	return nil
}

// hardware is the name and the begin of the fingerprint: CPUs of two generations may give themselves one name.
func hardware(p *schema.Profile) string {
	return fmt.Sprintf("%s (fingerprint %.8s)", clean(p.Metadata.HardwareName), p.Metadata.Fingerprint)
}

// loadWarned loads a profile. One whose figures disagree can still be looked at and compared,
// but not in silence.
func loadWarned(stderr io.Writer, path string) (*schema.Profile, error) {
	data, err := profiles.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := profiles.Parse(data)
	if invalid := (*profiles.InvalidError)(nil); errors.As(err, &invalid) {
		invalid.Name = profiles.NameOf(path)
	}
	if err != nil {
		return nil, err
	}
	if n := len(profiles.Validate(data)); n > 0 {
		findings := plural(n, "finding")
		if n > profiles.MaxFindings {
			findings = fmt.Sprintf("more than %d findings", profiles.MaxFindings)
		}
		see := "see calibrate validate " + path
		if path == "-" { // which is read
			see = "save what came from standard input, and see calibrate validate FILE"
		}
		fmt.Fprintf(stderr, "calibrate: warning: %s against this profile, %s\n", findings, see)
	}
	return p, nil
}

// printDifferences prints what changed for a person, or with all every figure.
func printDifferences(w io.Writer, old, new *schema.Profile, c *profiles.Comparison, all bool) error {
	out := newPage(w)
	for _, side := range []struct {
		name string
		of   *schema.Profile
	}{{"old", old}, {"new", new}} {
		m := side.of.Metadata
		out.line("%s: %s, %s, mode %s", side.name, m.HardwareName, m.CalibrationDate.UTC().Format("2006-01-02 15:04 UTC"), m.Mode)
	}
	// A device is named only where there is a choice.
	name := func(_, what string) string { return what }
	if len(old.Devices) > 1 || len(new.Devices) > 1 {
		name = func(device, what string) string { return device + " " + what }
	}
	g := newGrid(words("figure"), numbers("old"), numbers("new"), words("unit"), numbers("change"), words("result"), words(""))
	for _, d := range c.Differences {
		if all || d.Significant || d.VerdictChanged() || d.Regression != "" {
			g.row(name(d.Device, d.What), figure(d.Old), figure(d.New), d.Unit, change(d.Change), result(d), regression(d))
		}
	}
	heading := "Significant changes and changed verdicts, best samples"
	if all {
		heading = "All figures, best samples"
	}
	out.section(g, heading+" (a change above 0 is better)")
	for _, side := range []struct {
		heading string
		figures []profiles.Unmatched
	}{{"Only in old", c.OnlyOld}, {"Only in new", c.OnlyNew}} {
		g := newGrid(words("figure"), numbers("best"), words("unit"))
		for _, u := range side.figures {
			g.row(name(u.Device, u.What), figure(u.Best), u.Unit)
		}
		out.section(g, side.heading)
	}
	out.totals(c.Summary)
	_, err := out.WriteTo(w)
	return err
}

// change prints a signed share.
func change(share float64) string {
	if share < 0 {
		return "-" + magnitude(share)
	}
	return "+" + magnitude(share)
}

// magnitude prints a share without its sign; profiles may differ by any factor.
func magnitude(share float64) string {
	share = math.Abs(share)
	if share >= 100 {
		return fmt.Sprintf("%.2g%%", 100*share)
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

func result(d profiles.Difference) string {
	if !d.VerdictChanged() {
		return d.Verdict
	}
	return fmt.Sprintf("%s, %s -> %s", d.Verdict, d.OldFusion, d.NewFusion)
}

func regression(d profiles.Difference) string {
	switch d.Regression {
	case "":
		return ""
	case profiles.RegressionFlip:
		return "regression (flip)"
	}
	return "regression"
}

// totals prints the counts, and how far the two runs agree.
func (p *page) totals(s profiles.ComparisonSummary) {
	p.heading("%d compared: %d same, %d within noise, %d noisy, %d better, %d worse",
		s.Compared, s.Same, s.WithinNoise, s.Noisy, s.Better, s.Worse)
	p.line("%s, %s, %d only in old, %d only in new, %s", plural(s.VerdictChanges, "verdict change"), plural(s.Flips, "flip"),
		s.OnlyOld, s.OnlyNew, plural(s.Regressions, "regression"))
	var parts []string
	for _, a := range s.Agreement {
		if a.Group == profiles.GroupAll {
			p.line("median |change|: %s; over all of these the two runs agree within %s", strings.Join(parts, ", "), magnitude(a.MedianChange))
			return
		}
		parts = append(parts, a.Group+" "+magnitude(a.MedianChange))
	}
}
