package main

import "github.com/urfave/cli/v2"

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
	p, err := loadWarned(c.App.ErrWriter, c.Args().First())
	if err != nil {
		return err
	}
	return printProfile(c.App.Writer, p)
}
