// Command gemm writes the matrix multiplication kernels of package cpu: a
// micro-kernel, one for matrices that are not packed, packing kernels and an epilogue for each instruction set and
// element type. Run it in bench/cpu/asm: go run ./gemm
package main

import (
	"fmt"
	"log"
	"math/bits"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// target is an element type on an instruction set.
type target struct {
	simd.ISA
	prefix string // of the BLAS: s, d
	goType string
	size   int // of an element in bytes
}

func (t target) lanes() int { return t.Lanes(t.size) }

// function starts a leaf function without a frame.
func (t target) function(c *build.Context, name, params string) {
	c.Function(t.prefix + "gemm" + name + strings.ToUpper(t.Name))
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func(" + strings.ReplaceAll(params, "T", t.goType) + ")")
}

// elements loads a parameter that counts elements and turns it into bytes.
func (t target) elements(c *build.Context, param string, r reg.GPPhysical) {
	c.Load(c.Param(param), r)
	t.bytes(c, r)
}

// bytes turns a number of elements into theirs.
func (t target) bytes(c *build.Context, r reg.GPPhysical) {
	c.SHLQ(operand.Imm(uint64(bits.Len(uint(t.size))-1)), r)
}

// pick returns the instruction form of the element type.
func pick[F any](t target, single, double F) F {
	if t.size == 4 {
		return single
	}
	return double
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gemm: ")
	for _, isa := range []simd.ISA{simd.AVX512, simd.AVX2} {
		for _, t := range []target{{isa, "s", "float32", 4}, {isa, "d", "float64", 8}} {
			u := tile(t)
			write(fmt.Sprintf("%sgemm_ukr_%dx%d_%s_amd64.s", t.prefix, u.mr, u.vecs*t.lanes(), isa.Name), u.emit)
			write(fmt.Sprintf("%sgemm_plainukr_%dx%d_%s_amd64.s", t.prefix, u.mr, u.vecs*t.lanes(), isa.Name), u.plain)
			u.convolution()
			write(fmt.Sprintf("%sgemm_pack_%s_amd64.s", t.prefix, isa.Name), func(c *build.Context) {
				t.laneBits(c)
				if t.masked() {
					t.transpose(c)
				} else {
					t.transposeLane(c)
				}
				t.copyRows(c)
				t.skinny(c)
				t.gemv(c, "GEMVFar", true)
				t.gemv(c, "GEMVStreams", false)
				t.gemvPanels(c, "GEMVPanels", u.vecs)
				t.loadRuns(c)
				t.gather(c)
				if t.masked() {
					t.evenOdd(c)
					t.packRun(c)
				} else {
					t.evenOddLanes(c)
					t.packRunLanes(c)
					t.packTaps(c)
				}
			})
		}
	}
	t := target{simd.AVX512, "bf16", "float32", 4}
	u := tile(t)
	u.pairs = true
	u.convolution()
	u.rounds = true
	u.convolution()
}

// convolution writes the kernels that convolutions have beside those of matmul.
func (u ukernel) convolution() {
	to := func(kind string) string {
		if u.rounds {
			kind += "rounding"
		}
		return fmt.Sprintf("%sgemm_%sukr_%dx%d_%s_amd64.s", u.prefix, kind, u.mr, u.vecs*u.lanes(), u.Name)
	}
	u.near = true
	write(to("near"), u.emit)
	u.near, u.packs = false, true
	write(to("pack"), u.emit)
	if u.masked() {
		u.taps = true
		write(to("taps"), u.emit)
	}
}

func write(name string, emit func(*build.Context)) {
	if err := simd.WriteFile(filepath.Join("..", name), emit); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}
