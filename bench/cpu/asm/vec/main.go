// Command vec writes the element-wise and reduction kernels of package cpu, one
// file for each element type and instruction set. Run it in bench/cpu/asm:
// go run ./vec
package main

import (
	"fmt"
	"log"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"

	"hwcal/bench/cpu/asm/simd"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("vec: ")
	for _, isa := range []simd.ISA{simd.AVX512, simd.AVX2} {
		for _, t := range []element{float32s, float64s, bf16s, fp16s} {
			if t.half() && isa != simd.AVX512 {
				continue
			}
			name := fmt.Sprintf("vec_%s_%s_amd64.s", t.name, isa.Name)
			err := simd.WriteFile(filepath.Join("..", name), func(c *build.Context) {
				g := &gen{Context: c, isa: isa, element: t}
				g.maps()
				g.softmax()
				g.columns()
				g.reductions()
				g.norms()
				g.dropout()
				if !t.half() {
					g.moves()
					g.layers()
				}
				g.constants()
			})
			if err != nil {
				log.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// moves compute nothing: halves are moved in pairs.
func (g *gen) moves() {
	g.copyColumns()
	g.transpose()
}

// layers write parts of layers that are no multiplication of matrices.
func (g *gen) layers() {
	g.dots()
	g.taps()
	g.depthwise(1, false)
	g.depthwise(2, false)
	if !g.wide() {
		g.depthwise(2, true)
	}
}
