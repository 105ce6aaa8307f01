package simd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// WriteFile writes the functions that body adds to the context as one file of Go
// assembly. Unlike avo's own Generate it can be called for several files in one
// program, and its header names no folder of the machine it ran on. What its functions need
// must be in its name: avx512, avx512_vnni, amx; else they must do with AVX2.
func WriteFile(path string, body func(ctx *build.Context)) error {
	text, err := compile(body, extensionsOf(filepath.Base(path)))
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.TrimLeft(text, "\n"), 0o644)
}

// Extensions that package cpu looks for before it calls a kernel of a family. Those without a
// name of their own came long before AVX2.
var (
	avx2Extensions   = []string{"AVX", "AVX2", "FMA3", "BMI2", "CMOV", "MMX+", "SSE2", "CLFLUSH", "CLFLUSHOPT", "CPUID"}
	avx512Extensions = append([]string{"AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL"}, avx2Extensions...)
)

// extensionsOf are those that the kernels of a file may need. The instructions that avo does
// not know are not among them: see Emit.
func extensionsOf(name string) []string {
	switch {
	case strings.Contains(name, "avx512_vnni"):
		return append([]string{"AVX512VNNI"}, avx512Extensions...)
	case strings.Contains(name, "avx512"), strings.Contains(name, "amx"):
		return avx512Extensions
	}
	return avx2Extensions
}

func compile(body func(ctx *build.Context), extensions []string) ([]byte, error) {
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
		if err := needs(f, extensions); err != nil {
			return nil, err
		}
		for _, i := range f.Instructions() {
			if !strings.HasPrefix(i.Opcode, waiting) {
				continue
			}
			if err := toBytes(i); err != nil {
				return nil, err
			}
		}
	}
	return printer.NewGoAsm(printer.Config{Name: "avo", Pkg: "cpu"}).Print(file)
}

// needs fails if a function needs other extensions. The allocator hands out all 32 registers, and
// the assembler takes any of them with the mnemonics of AVX2: on a CPU with AVX-512 nothing would
// show it.
func needs(f *ir.Function, extensions []string) error {
	registers := AVX2.Regs
	if slices.Contains(extensions, "AVX512F") {
		registers = AVX512.Regs
	}
	for _, i := range f.Instructions() {
		for _, isa := range i.ISA {
			if !slices.Contains(extensions, isa) {
				return fmt.Errorf("%s: %s needs %s", f.Name, i.Opcode, isa)
			}
		}
		for _, r := range i.Registers() {
			p := reg.ToPhysical(r)
			if p != nil && p.Kind() == reg.KindVector && int(p.PhysicalIndex()) >= registers {
				return fmt.Errorf("%s: %s with %s needs AVX-512", f.Name, i.Opcode, p.Asm())
			}
		}
	}
	return nil
}
