package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"hwcal/schema"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema (draft 2020-12) of a profile",
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := io.WriteString(c.App.Writer, schema.ProfileSchema)
			return err
		},
	}
}
