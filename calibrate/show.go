package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"hwcal/profiles"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print the tables of a profile",
		ArgsUsage: "FILE",
		Action:    showAction,
	}
}

func showAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("show wants one file, not %d; - is standard input", c.NArg())
	}
	path := c.Args().First()
	data, err := profiles.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := profiles.Parse(data)
	if invalid := (*profiles.InvalidError)(nil); errors.As(err, &invalid) {
		invalid.Name = path
	}
	if err != nil {
		return err
	}
	// A profile whose figures disagree can still be looked at, but not in silence.
	if n := len(profiles.Validate(data)); n > 0 {
		fmt.Fprintf(c.App.ErrWriter, "calibrate: warning: %d findings against this profile, see calibrate validate %s\n", n, path)
	}
	return printProfile(c.App.Writer, p)
}
