package simd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// WriteFile writes the functions that body adds to the context as one file of Go
// assembly. Unlike avo's own Generate it can be called for several files in one
// program, and its header names no folder of the machine it ran on. Unless its name says
// that it is for AVX-512 or AMX, it must do without.
func WriteFile(path string, body func(ctx *build.Context)) error {
	text, err := compile(body, evexFile(filepath.Base(path)))
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.TrimLeft(text, "\n"), 0o644)
}

// evexFile says whether the kernels of a file are for CPUs with AVX-512.
func evexFile(name string) bool {
	return strings.Contains(name, "avx512") || strings.Contains(name, "amx")
}

func compile(body func(ctx *build.Context), evex bool) ([]byte, error) {
	ctx := build.NewContext()
	body(ctx)
	file, err := ctx.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	for _, f := range file.Functions() {
		if why := needsEVEX(f); why != "" && !evex {
			return nil, fmt.Errorf("%s needs AVX-512: %s", f.Name, why)
		}
	}
	return printer.NewGoAsm(printer.Config{Name: "avo", Pkg: "cpu"}).Print(file)
}

// needsEVEX names the first thing in a function that only EVEX can encode. The allocator
// hands out all 32 registers, and the assembler takes any of them with the mnemonics of AVX2:
// on a CPU with AVX-512 nothing would show it.
func needsEVEX(f *ir.Function) string {
	for _, i := range f.Instructions() {
		for _, isa := range i.ISA {
			if strings.HasPrefix(isa, "AVX512") {
				return i.Opcode + " of " + isa
			}
		}
		for _, r := range i.Registers() {
			p := reg.ToPhysical(r)
			if p != nil && p.Kind() == reg.KindVector && int(p.PhysicalIndex()) >= AVX2.Regs {
				return fmt.Sprintf("%s with %s", i.Opcode, p.Asm())
			}
		}
	}
	return ""
}
