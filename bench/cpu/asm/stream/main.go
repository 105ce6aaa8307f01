// Command stream generates the kernels that measure the machine itself: STREAM,
// register peaks, clock chains and flushes.
package main

import (
	"fmt"
	"log"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"

	"hwcal/bench/cpu/asm/simd"
)

func main() {
	files := map[string]func(*build.Context){"../chain_amd64.s": chains, "../flush_amd64.s": flushes}
	for _, isa := range []simd.ISA{simd.AVX2, simd.AVX512} {
		files[fmt.Sprintf("../stream_%s_amd64.s", isa.Name)] = func(ctx *build.Context) { streams(ctx, isa) }
		files[fmt.Sprintf("../peak_%s_amd64.s", isa.Name)] = func(ctx *build.Context) { peaks(ctx, isa) }
	}
	for path, body := range files {
		if err := simd.WriteFile(path, body); err != nil {
			log.Fatalf("stream: %s: %v", path, err)
		}
	}
}

// function starts a leaf function without a frame.
func function(ctx *build.Context, name, signature string) {
	ctx.Function(name)
	ctx.Attributes(attr.NOSPLIT)
	ctx.SignatureExpr(signature)
}

func suffix(isa simd.ISA) string { return strings.ToUpper(isa.Name) }
