// Command narrow writes the kernels of package cpu for fp16, bf16 and int8: the
// matrix multiplication and the register peak of each unit that computes in them, the
// packing that they share, and what is done to single elements. Run it in bench/cpu/asm: go run ./narrow
package main

import (
	"fmt"
	"log"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("narrow: ")
	for _, t := range tiles {
		write(fmt.Sprintf("%sgemm_ukr_32x32_amx", t.dtype), func(c *build.Context) {
			configuration(c)
			t.block(c)
			t.peak(c)
		})
	}
	for _, v := range vectors {
		write(fmt.Sprintf("%sgemm_ukr_%dx%d_%s", v.dtype, v.mr, v.nr(), v.unit), func(c *build.Context) {
			v.block(c)
			if v.dtype == "int8" {
				v.sumQuads(c)
			}
			if v.skinny() {
				v.skinnyBlock(c)
			}
			if v.direct() {
				v.directBlock(c)
				v.directPanels(c)
			}
			v.peak(c)
		})
	}
	write("narrow_convert_avx512", conversions)
	for _, isa := range []simd.ISA{simd.AVX512, simd.AVX2} {
		write("narrow_requantize_"+isa.Name, func(c *build.Context) { sums(c, isa) })
		write("narrow_pack_"+isa.Name, func(c *build.Context) {
			packA(c, isa)
			packQuads(c, isa)
			if isa.Bytes == 64 {
				lanes := pairOrder(c)
				packPairs(c, lanes)
				pairRows(c, lanes)
				packRows(c)
				everySecond(c)
			}
		})
	}
}

func write(name string, emit func(*build.Context)) {
	file := name + "_amd64.s"
	if err := simd.WriteFile(filepath.Join("..", file), emit); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
}

// function starts a leaf function without a frame.
func function(c *build.Context, name, signature string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr(signature)
}

// camel turns "avx512_vnni" into "AVX512VNNI".
func camel(unit string) string { return strings.ToUpper(strings.ReplaceAll(unit, "_", "")) }

// param is where a parameter lies in the frame.
func param(c *build.Context, name string) operand.Mem {
	at, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return at.Addr
}

// A block kernel multiplies panels of A by panels of B, both packed: steps steps of k,
// 64 bytes of a row of A each. A panel of A is [steps][rows][64 bytes], one of B is
// [steps][parts][groups][columns of a part][bytes of a group]. The tiles of C lie one behind the other
// in acc, from where they are loaded if load, else they start at zero; they are
// written to out. Tiles of AMX may go there by way of spare, and their A may be rows, lda bytes apart.
const blockSignature = "func(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, " +
	"out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)"

var (
	regA, regB, regAcc, regOut = reg.RSI, reg.RDX, reg.RDI, reg.R8
	regLDO, regTiles, regSteps = reg.R9, reg.RBX, reg.RCX
	regPanel                   = reg.R14 // where the panel of A begins
	regAheadA, regAheadB       = reg.R13, reg.R15
	regTemp                    = reg.RAX
)

// loadBlock loads what blockLoops moves on.
func loadBlock(c *build.Context) {
	c.Load(c.Param("a"), regPanel)
	c.Load(c.Param("acc"), regAcc)
	c.Load(c.Param("ldo"), regLDO)
	c.Load(c.Param("aheadA"), regAheadA)
	c.Load(c.Param("aheadB"), regAheadB)
}

// blockLoops runs tile for each tile of each panel of A, which ends with regA and
// regB behind their panels, and nextPanel behind each of A. Its labels get a suffix.
func blockLoops(c *build.Context, suffix string, accTile int, tile, nextPanel func()) {
	c.Label("row" + suffix)
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("out"), regOut)
	c.Load(c.Param("panelsB"), regTiles)
	c.Label("tile" + suffix)
	c.MOVQ(regPanel, regA)
	c.Load(c.Param("steps"), regSteps)
	tile()
	c.ADDQ(operand.U32(accTile), regAcc)
	c.ADDQ(param(c, "nextTile"), regOut)
	c.ADDQ(param(c, "nextA"), regAheadA)
	c.ADDQ(param(c, "nextB"), regAheadB)
	c.DECQ(regTiles)
	c.JNZ(operand.LabelRef("tile" + suffix))
	nextPanel()
	c.ADDQ(param(c, "accSkip"), regAcc)
	c.Load(c.Param("nextRow"), regTemp)
	c.ADDQ(regTemp, param(c, "out"))
	c.DECQ(param(c, "panelsA"))
	c.JNZ(operand.LabelRef("row" + suffix))
}

// nextPanel moves on to the next panel of A, and fetches the one behind it.
func nextPanel(c *build.Context) {
	c.MOVQ(regA, regAheadA)
	c.SUBQ(regPanel, regAheadA)
	c.ADDQ(regA, regAheadA)
	c.MOVQ(regA, regPanel)
}

// fetchAhead brings what comes next of an operand into L2: two rows, a line of each a step, and
// the next rows at the next tile.
func fetchAhead(c *build.Context, at reg.GPPhysical, second string) {
	c.Load(c.Param(second), regTemp)
	c.PREFETCHT1(operand.Mem{Base: at})
	c.PREFETCHT1(operand.Mem{Base: at, Index: regTemp, Scale: 1})
	c.ADDQ(operand.U32(64), at)
}
