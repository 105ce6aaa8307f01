package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"
)

// Exit codes of every command; 0 is success.
const (
	exitFailed      = 1   // it could not be done, or a profile is invalid
	exitUsage       = 2   // the command line makes no sense
	exitStrict      = 3   // --strict met what is wrong, inconclusive or missing, or compare a regression
	exitInterrupted = 130 // as a shell reports SIGINT
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }
func (e exitError) ExitCode() int { return e.code }

// usagef says in one line what is wrong with the command line.
func usagef(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// positive refuses numbers that leave nothing to measure, or cannot be.
func positive(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		f := c.Float64(flag)
		if c.IsSet(flag) && (math.IsInf(f, 0) || !(f > 0 || c.Int(flag) > 0 || c.Duration(flag) > 0)) {
			return usagef("--%s %v: want a number above 0", flag, c.Value(flag))
		}
	}
	return nil
}

// named refuses empty names, as those of variables that are not set: they are none to put the default in place of.
func named(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		if c.IsSet(flag) && strings.TrimSpace(c.String(flag)) == "" {
			return usagef("--%s: want a name", flag)
		}
	}
	return nil
}

// noArguments refuses arguments that a command would otherwise ignore.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s takes no argument %q", c.Command.Name, c.Args().First())
	}
	return nil
}
