package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hwcal/profiles"
)

func validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check profiles against the schema and their figures against each other",
		ArgsUsage: "FILE...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORMAT` of the report: " + strings.Join(profiles.Formats(), ", ")},
		},
		Action: validateAction,
	}
}

// ruleRead is the rule of a file that cannot be read. It stands in the report,
// as a reader of JUnit or JSON would otherwise take the file for valid.
const ruleRead = "read"

func validateAction(c *cli.Context) error {
	format := c.String("format")
	if !slices.Contains(profiles.Formats(), format) {
		return usagef("--format: unknown format %q, want one of %s", format, strings.Join(profiles.Formats(), ", "))
	}
	if !c.Args().Present() {
		return usagef("validate wants one file at least; - is standard input")
	}
	paths := c.Args().Slice()
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return usagef("validate can read one of the files only from standard input")
	}
	var reports []profiles.Report
	invalid := 0
	for _, path := range paths {
		findings, err := profiles.ValidateFile(path)
		if err != nil {
			message := strings.TrimPrefix(err.Error(), "profiles: ")
			findings = []profiles.Finding{{Rule: ruleRead, Message: message, Line: 1, Column: 1}}
		}
		if len(findings) > 0 {
			invalid++
		}
		reports = append(reports, profiles.Report{File: path, Findings: findings})
	}
	if err := profiles.WriteReports(c.App.Writer, format, reports); err != nil {
		return err
	}
	if invalid > 0 {
		return fmt.Errorf("%d of %d profiles invalid", invalid, len(reports))
	}
	return nil
}
