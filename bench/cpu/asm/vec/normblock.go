package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockDistance is how far ahead a block is fetched: nearly two pages. With a page a Zen 4 takes a third
// longer.
const blockDistance = 7168

// normBlock takes the sums of a part of one row, and writes the results of that of another. Past the caches it fetches what
// it takes, and waits for its loads.
func (g *gen) normBlock(layer, add, nt bool) {
	k := &norm{
		gen: g, layer: layer, add: add, again: true,
		dst: g.load("dst"), src: g.load("src"), next: g.load("next"), at: g.GP64(), n: g.GP64(), gamma: g.load("gamma"),
		shift: g.vector(), sums: g.partial(), squares: g.partial(), mean: g.vector(), scale: g.vector(),
	}
	g.broadcast(g.argument("scale"), k.scale)
	if add {
		k.written, k.y = g.load("y"), g.load("nextY")
	}
	if layer {
		k.beta = g.load("beta")
		g.broadcast(g.argument("mean"), k.mean)
		g.broadcast(g.argument("shift"), k.shift)
	}
	k.clear()
	walk := func(name string, take, write bool) {
		many := accumulators
		if nt {
			many = k.paced()
		}
		k.strip(name, many, k.n, k.at, func(count int, mask *mask) {
			if take && nt {
				for _, p := range k.summands() {
					k.fetchLines(p, k.at, blockDistance, count)
				}
			}
			if take {
				k.take(count, mask)
			}
			if write {
				k.write(count, mask, nt && mask == nil)
			}
			if nt && count > 1 {
				k.pace()
			}
		})
	}
	g.TESTQ(k.next, k.next)
	g.JZ(operand.LabelRef("write"))
	g.TESTQ(k.src, k.src)
	g.JZ(operand.LabelRef("take"))
	walk("both", true, true)
	g.JMP(operand.LabelRef("walked"))
	g.Label("take")
	walk("take", true, false)
	g.JMP(operand.LabelRef("walked"))
	g.Label("write")
	walk("write", false, true)
	g.Label("walked")
	for i, sums := range [][]reg.VecVirtual{k.sums, k.squares} {
		g.emit("VMOVS"+g.mnemonic, g.fold("VADD", sums).AsX(), g.returned(i))
	}
	g.end()
}
