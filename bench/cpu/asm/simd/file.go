package simd

import (
	"bytes"
	"os"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// WriteFile writes the functions that body adds to the context as one file of Go
// assembly. Unlike avo's own Generate it can be called for several files in one
// program, and its header names no folder of the machine it ran on.
func WriteFile(path string, body func(ctx *build.Context)) error {
	ctx := build.NewContext()
	body(ctx)
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	text, err := printer.NewGoAsm(printer.Config{Name: "avo", Pkg: "cpu"}).Print(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.TrimLeft(text, "\n"), 0o644)
}
