package main

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// gen writes the kernels of one element type for one instruction set.
type gen struct {
	*build.Context
	element
	isa    simd.ISA
	table  [][]uint64              // constants in use, as bits: one for all lanes, or one for each
	pinned map[uint64]reg.Register // those in registers throughout the function
	held   map[string]reg.Register // vectors of one for each lane in registers, as fmt.Sprint writes them
	queue  *[]instruction          // see interleave
	parts  int                     // see pinExp2NonPositive
}

// konst is a constant operand.
type konst uint64

func (g *gen) wide() bool { return g.isa.Bytes == 64 }
func (g *gen) lanes() int { return g.isa.Lanes(g.size) }

// step is the number of bytes that a vector takes in memory.
func (g *gen) step() int { return g.lanes() * g.storedSize }

// num is the constant v, rounded to the element type.
func (g *gen) num(v float64) konst {
	if g.size == 4 {
		return konst(math.Float32bits(float32(v)))
	}
	return konst(math.Float64bits(v))
}

func (g *gen) signBit() konst { return konst(uint64(1) << (8*g.size - 1)) }
func (g *gen) magnitude() konst {
	return konst(uint64(1)<<(8*g.size-1) - 1)
}

// vector is a new virtual register.
func (g *gen) vector() reg.VecVirtual {
	if g.wide() {
		return g.ZMM()
	}
	return g.YMM()
}

// op writes the packed instruction of the element type, operands in Go's order
// (destination last). A constant operand becomes its pinned register or a
// memory operand: an embedded broadcast of AVX-512, a whole vector for AVX2.
func (g *gen) op(mnemonic string, operands ...any) {
	g.emit(mnemonic+"P"+g.mnemonic, operands...)
}

// emit writes an instruction by its full name.
func (g *gen) emit(name string, operands ...any) {
	if g.queue != nil {
		*g.queue = append(*g.queue, instruction{name, operands})
		return
	}
	g.write(name, operands)
}

func (g *gen) write(name string, operands []any) {
	args := make([]reflect.Value, len(operands))
	for i, o := range operands {
		if k, ok := o.(konst); ok {
			if r := g.pinned[uint64(k)]; r != nil {
				o = r
			} else {
				o = g.mem(k)
				if g.wide() && !strings.HasPrefix(name, "VBROADCAST") {
					name += "_BCST"
				}
			}
		}
		args[i] = reflect.ValueOf(o)
	}
	if simd.Known(name) {
		ops := make([]operand.Op, len(args))
		for i, a := range args {
			ops[i] = a.Interface().(operand.Op)
		}
		simd.Emit(g.Context, name, ops...)
		return
	}
	method := reflect.ValueOf(g.Context).MethodByName(name)
	if !method.IsValid() {
		panic("vec: avo knows no " + name)
	}
	method.Call(args)
}

// broadcast fills a register from one element in memory.
func (g *gen) broadcast(m operand.Op, v reg.Register) { g.emit("VBROADCASTS"+g.mnemonic, m, v) }

// set loads a constant.
func (g *gen) set(k konst, v reg.Register) {
	if g.pinned[uint64(k)] != nil || !g.wide() {
		g.op("VMOVA", k, v)
		return
	}
	g.broadcast(g.mem(k), v)
}

// register is the one that a constant is pinned to, or a new one with it.
func (g *gen) register(k konst) reg.Register {
	if r := g.pinned[uint64(k)]; r != nil {
		return r
	}
	v := g.vector()
	g.set(k, v)
	return v
}

// pin keeps constants in registers for the rest of the function.
func (g *gen) pin(ks ...konst) {
	for _, k := range ks {
		v := g.vector()
		g.broadcast(g.mem(k), v)
		g.pinned[uint64(k)] = v
	}
}

// hold keeps vectors of one constant for each lane in registers for the rest of the function.
func (g *gen) hold(vectors ...[]uint64) {
	for _, bits := range vectors {
		v := g.vector()
		g.op("VMOVU", g.lanesMem(bits...), v)
		g.held[fmt.Sprint(bits)] = v
	}
}

// vectorOf is a register with a vector of constants: the one that holds it, or a new one.
func (g *gen) vectorOf(bits []uint64) reg.Register {
	if r := g.held[fmt.Sprint(bits)]; r != nil {
		return r
	}
	v := g.vector()
	g.op("VMOVU", g.lanesMem(bits...), v)
	return v
}

// instruction is one that interleave has yet to write.
type instruction struct {
	name     string
	operands []any
}

// interleave writes n independent instances of a computation instruction by
// instruction, so that their latencies overlap. Many share what AVX2 loads of a constant: two
// loads a cycle are fewer than its two operations need. For few a load is one instruction more.
func (g *gen) interleave(n int, lane func(u int)) {
	queues := make([][]instruction, n)
	for u := range n {
		g.queue = &queues[u]
		lane(u)
	}
	g.queue = nil
	for i, first := range queues[0] {
		shared := make([]any, len(first.operands))
		for j, o := range first.operands {
			if k, ok := o.(konst); ok && n > 2 && !g.wide() && g.pinned[uint64(k)] == nil {
				v := g.vector()
				g.set(k, v)
				shared[j] = v
			}
		}
		for u := range n {
			c := queues[u][i]
			for j, v := range shared {
				if v != nil {
					c.operands[j] = v
				}
			}
			g.write(c.name, c.operands)
		}
	}
}

// begin starts a function of the family: vec, op, element type, instruction set. In its signature T is what is
// computed in, and S what is stored.
func (g *gen) begin(name, signature string) {
	g.pinned, g.held = map[uint64]reg.Register{}, map[string]reg.Register{}
	g.Function("vec" + name + strings.ToUpper(g.name) + strings.ToUpper(g.isa.Name))
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(strings.NewReplacer("T", g.goType, "S", g.stored).Replace(signature))
}

func (g *gen) end() {
	g.VZEROUPPER()
	g.RET()
}

// load puts an argument into a new general register.
func (g *gen) load(name string) reg.GPVirtual {
	r := g.GP64()
	g.Load(g.Param(name), r)
	return r
}

// argument is the memory operand of a scalar argument.
func (g *gen) argument(name string) operand.Mem {
	p, err := g.Param(name).Resolve()
	if err != nil {
		panic(fmt.Sprintf("vec: argument %s: %v", name, err))
	}
	return p.Addr
}

// bytes turns a count of elements into a count of bytes in memory, bytesOfT into that of what is computed in.
func (g *gen) bytes(r reg.GPVirtual) { g.SHLQ(log2(g.storedSize), r) }

func (g *gen) bytesOfT(r reg.GPVirtual) { g.SHLQ(log2(g.size), r) }

// log2 is the binary logarithm of a power of two.
func log2(n int) operand.U8 { return operand.U8(bits.TrailingZeros(uint(n))) }
