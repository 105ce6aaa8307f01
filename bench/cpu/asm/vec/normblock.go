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
func (g *gen) normBlock(layer, add bool) {
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
	walk := func(name string, take, write, nt bool) {
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
		g.JMP(operand.LabelRef("walked"))
	}
	walks := func(name string, nt bool) {
		g.TESTQ(k.next, k.next)
		g.JZ(operand.LabelRef(name + "write"))
		g.TESTQ(k.src, k.src)
		g.JZ(operand.LabelRef(name + "take"))
		walk(name+"both", true, true, nt)
		g.Label(name + "take")
		walk(name+"take", true, false, nt)
		g.Label(name + "write")
		walk(name+"write", false, true, nt)
	}
	g.CMPB(g.argument("nt"), operand.U8(0))
	g.JE(operand.LabelRef("cached"))
	walks("nt", true)
	g.Label("cached")
	walks("in", false)
	g.Label("walked")
	for i, sums := range [][]reg.VecVirtual{k.sums, k.squares} {
		g.emit("VMOVS"+g.mnemonic, g.fold("VADD", sums).AsX(), g.returned(i))
	}
	g.end()
}
