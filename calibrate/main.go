// Command calibrate measures what a machine can really do and writes it as a
// profile.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func main() { os.Exit(calibrate(os.Args, os.Stdout, os.Stderr)) }

// calibrate runs the command line and returns the exit code.
func calibrate(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(stderr)
	defer stop()
	out := &checked{Writer: stdout}
	app := newApp(out, stderr)
	err := cmp.Or(app.RunContext(ctx, permute(app, args)), out.err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && exitCode(err) != exitInterrupted:
		fmt.Fprintln(stderr, "calibrate: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "calibrate: %v\n", err)
	return exitCode(err)
}

// checked remembers the first error of a writer: the library prints help without asking for any.
type checked struct {
	io.Writer
	err error
}

func (w *checked) Write(data []byte) (int, error) {
	n, err := w.Writer.Write(data)
	w.err = cmp.Or(w.err, err)
	return n, err
}

func newApp(stdout, stderr io.Writer) *cli.App {
	usage := func(c *cli.Context, err error, _ bool) error {
		return usagef("%s: %v; see %s --help", c.Command.HelpName, err, c.Command.HelpName)
	}
	app := &cli.App{
		Name:                 "calibrate",
		Usage:                "measure what this machine can really do",
		Version:              cmp.Or(version, unreleased),
		Writer:               stdout,
		ErrWriter:            stderr,
		OnUsageError:         usage,
		ExitErrHandler:       func(*cli.Context, error) {}, // the caller turns errors into codes
		HideHelpCommand:      true,
		EnableBashCompletion: true,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q, want one of %s", c.Args().First(), strings.Join(commandNames(c.App), ", "))
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			runCommand(), detectCommand(), listCommand(), benchCommand(), showCommand(), rooflineCommand(), compareCommand(), validateCommand(), schemaCommand(),
		},
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = usage
		cmd.HideHelpCommand = true
	}
	return app
}

func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// permute moves the flags of a command before its other arguments, where the
// library wants them: `bench matmul --dtype fp32` is what people type.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 || args[len(args)-1] == "--generate-bash-completion" { // which the library wants last
		return args
	}
	at := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[1]) })
	if at < 0 {
		return args
	}
	var flags, rest []string
	for i := 2; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		flags = append(flags, arg)
		if name := strings.TrimLeft(arg, "-"); !strings.Contains(arg, "=") && takesValue(app.Commands[at], name) {
			if i++; i == len(args) { // the library says that its value is missing, if no other argument is left to be it
				return slices.Concat(args[:2], flags)
			}
			flags = append(flags, args[i])
		}
	}
	return slices.Concat(args[:2], flags, rest)
}

// takesValue says whether the command has a flag of the name that is not boolean.
func takesValue(c *cli.Command, name string) bool {
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			_, boolean := f.(*cli.BoolFlag)
			return !boolean
		}
	}
	return false
}

// exitCode of an error: its own, or 1.
func exitCode(err error) int {
	var coded cli.ExitCoder
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return exitFailed
}
