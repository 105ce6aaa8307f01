package main

import (
	"fmt"
	"math"
	"slices"
)

// batch is several vectors that go through the same instructions side by side: the pipes of a core take
// on other vectors while one waits for its result.
type batch struct {
	*file
	target
	*pins
	count  int // vectors
	most   int // of the batches of this kernel
	taken  []bool
	single bool // the vector is one element, and zeros that nobody reads
}

// vector is a register of each vector of a batch, or one that all of them share.
type vector struct{ first, step int }

func (v vector) at(u int) int { return v.first + u*v.step }

// Vectors take registers below firstPin; behind them lie what all of them read at all times.
const firstPin = 24

// pins are what lies in registers, in their order: arguments, by their names, and constants.
type pins struct{ held []pin }

type pin struct {
	argument string
	bits     uint64
}

func (f *file) batch(t target, p *pins, count, most int, single bool) *batch {
	return &batch{f, t, p, count, most, make([]bool, firstPin/most), single}
}

// fresh is a register for each vector.
func (b *batch) fresh() vector {
	i := slices.Index(b.taken, false)
	if i < 0 {
		panic("neon: no register is left")
	}
	b.taken[i] = true
	return vector{i * b.most, 1}
}

func (b *batch) free(vs ...vector) {
	for _, v := range vs {
		b.taken[v.first/b.most] = false
	}
}

func (p *pins) pinned(what pin) vector {
	at := slices.Index(p.held, what)
	if at < 0 {
		at = len(p.held)
		p.held = append(p.held, what)
	}
	if firstPin+at > 31 {
		panic("neon: no register is left to pin")
	}
	return vector{firstPin + at, 0}
}

func (b *batch) argument(name string) vector { return b.pinned(pin{argument: name}) }

// num is a constant in a register.
func (b *batch) num(v float64) vector { return b.pinned(pin{bits: b.bitsOf(v)}) }

func (t target) bitsOf(v float64) uint64 {
	if t.size == 4 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

func (b *batch) signBit() vector { return b.pinned(pin{bits: 1 << (8*b.size - 1)}) }

// loaded is a constant for an instruction to overwrite. Loads have pipes of their own, whereas a copy
// takes one of those for arithmetic.
func (b *batch) loaded(v float64) vector {
	to := b.fresh()
	for u := range b.count {
		b.do("FMOVQ %d(R12), F%d", b.constant(b.bitsOf(v)), to.at(u))
	}
	return to
}

// op is an instruction with three vectors: d = n op m, or d += n op m.
func (b *batch) op(name string, d, n, m vector) {
	for u := range b.count {
		b.three(b.target.op(name), d.at(u), n.at(u), m.at(u))
	}
}

// unary is an instruction with two vectors: d = op n.
func (b *batch) unary(name string, d, n vector) {
	for u := range b.count {
		b.two(b.target.op(name), d.at(u), n.at(u))
	}
}

// get loads what lies at a register.
func (b *batch) get(base string) vector {
	v := b.fresh()
	switch {
	case b.single:
		b.do("FMOV%s (%s), F%d", b.lane(), base, v.first)
	case b.count == 1:
		b.do("FMOVQ (%s), F%d", base, v.first)
	default:
		for u := 0; u < b.count; u += 2 {
			b.do("FLDPQ %d(%s), (F%d, F%d)", 16*u, base, v.at(u), v.at(u+1))
		}
	}
	return v
}

// put stores at a register.
func (b *batch) put(v vector, base string) {
	switch {
	case b.single:
		b.do("FMOV%s F%d, (%s)", b.lane(), v.first, base)
	case b.count == 1:
		b.do("FMOVQ F%d, (%s)", v.first, base)
	default:
		for u := 0; u < b.count; u += 2 {
			b.do("FSTPQ (F%d, F%d), %d(%s)", v.at(u), v.at(u+1), 16*u, base)
		}
	}
}

// prologue loads the pins. Constants lie at R12 while the kernel runs.
func (f *file) prologue(t target, p *pins) {
	f.do("MOVD $%s<>(SB), R12", t.tableName())
	for i, held := range p.held {
		to := firstPin + i
		if held.argument == "" {
			f.do("FMOVQ %d(R12), F%d", f.constant(held.bits), to)
			continue
		}
		f.do("FMOV%s %s, F%d", t.lane(), f.arg(held.argument), to)
		f.do("VDUP V%d.%s[0], V%[1]d.%[3]s", to, t.lane(), t.lanes())
	}
}

func (t target) tableName() string { return fmt.Sprintf("vecConstF%dNEON", 8*t.size) }

// constant is where a constant lies in the table, a whole vector of it. It enters at its first use.
func (f *file) constant(bits uint64) int {
	at := slices.Index(f.table, bits)
	if at < 0 {
		at = len(f.table)
		f.table = append(f.table, bits)
	}
	return 16 * at
}

// constants writes the table behind the functions that use it.
func (t target) constants(f *file) {
	f.text.WriteString("\n")
	for i, bits := range f.table {
		if t.size == 4 {
			bits |= bits << 32
		}
		for half := range 2 {
			fmt.Fprintf(&f.text, "DATA %s<>+%d(SB)/8, $0x%016x\n", t.tableName(), 16*i+8*half, bits)
		}
	}
	fmt.Fprintf(&f.text, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", t.tableName(), 16*len(f.table))
}
