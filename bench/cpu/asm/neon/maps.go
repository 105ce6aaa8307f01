package main

import "fmt"

// mapped is an element-wise operation on an m x n matrix, dst[i][j] = f(src[i][j], y[i][j], a, b).
type mapped struct {
	name   string
	unroll int // vectors in a batch
	y      bool
	noSrc  bool
	f      func(b *batch, x vector, y func() vector) vector
}

// Operations that take an instruction or two are bound by loads and stores, and have a batch as long as
// that of several iterations; those of math.go need six registers for a vector.
const simple, long = 8, 4

func (t target) maps(f *file) {
	three := func(name string) func(b *batch, x vector, y func() vector) vector {
		return func(b *batch, x vector, y func() vector) vector { b.op(name, x, x, y()); return x }
	}
	floor := func(b *batch, x vector) vector { b.op("fmax", x, x, b.num(0)); return x } // NaN stays NaN
	scale := func(b *batch, x vector) vector { b.op("fmul", x, x, b.argument("a")); return x }
	sum := func(b *batch, x vector, y func() vector) vector {
		with := y()
		b.op("fadd", x, x, with)
		b.free(with)
		return x
	}
	type batched = func(b *batch, x vector) vector
	alone := func(f batched) func(b *batch, x vector, y func() vector) vector {
		return func(b *batch, x vector, _ func() vector) vector { return f(b, x) }
	}
	ofSum := func(f batched) func(b *batch, x vector, y func() vector) vector {
		return func(b *batch, x vector, y func() vector) vector { return f(b, sum(b, x, y)) }
	}
	for _, k := range []mapped{
		{name: "Relu", unroll: simple, f: alone(floor)},
		{name: "Scale", unroll: simple, f: alone(scale)},
		{name: "Affine", unroll: simple, f: alone(func(b *batch, x vector) vector {
			b.op("fadd", x, scale(b, x), b.argument("b"))
			return x
		})},
		{name: "Set", unroll: simple, noSrc: true, f: alone(func(b *batch, _ vector) vector { return b.argument("b") })},
		{name: "Add", unroll: simple, y: true, f: three("fadd")},
		{name: "AddRelu", unroll: simple, y: true, f: ofSum(floor)},
		{name: "Sub", unroll: simple, y: true, f: three("fsub")},
		{name: "Mul", unroll: simple, y: true, f: three("fmul")},
		{name: "Div", unroll: simple, y: true, f: three("fdiv")},
		{name: "Max", unroll: simple, y: true, f: three("fmax")},
		{name: "Exp", unroll: long, f: alone((*batch).exp)},
		{name: "Erf", unroll: long, f: alone((*batch).erf)},
		{name: "Tanh", unroll: long, f: alone((*batch).tanh)},
		{name: "Gelu", unroll: long, f: alone((*batch).gelu)},
		{name: "GeluTanh", unroll: long, f: alone((*batch).geluTanh)},
		{name: "Silu", unroll: long, f: alone((*batch).silu)},
		{name: "Sigmoid", unroll: long, f: alone((*batch).sigmoid)},
		{name: "AddGelu", unroll: long, y: true, f: ofSum((*batch).gelu)},
		{name: "AddSilu", unroll: long, y: true, f: ofSum((*batch).silu)},
		{name: "SiluMul", unroll: long, y: true, f: func(b *batch, x vector, y func() vector) vector {
			r := b.silu(x)
			b.op("fmul", r, r, y())
			return r
		}},
	} {
		t.emitMap(f, k)
	}
}

// emitMap writes one map: of each row a batch of vectors at once, then one vector, then single elements,
// which leave 0 in the other lanes of theirs.
func (t target) emitMap(f *file, k mapped) {
	body := func(f *file, p *pins, count int, single bool) {
		b := f.batch(t, p, count, k.unroll, single)
		var x vector
		if !k.noSrc {
			x = b.get("R9")
		}
		b.put(k.f(b, x, func() vector { return b.get("R10") }), "R8")
	}
	p := new(pins)
	body(newFile(), p, 1, true) // to learn what to pin
	f.function(fmt.Sprintf("vec%sF%dNEON", k.name, 8*t.size), fmt.Sprintf("dst, src, y *%[1]s, ldd, lds, ldy, m, n int, a, b %[1]s, nt uint8", t.element()), "")
	f.load("dst src y ldd lds ldy m n", "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7")
	for r := 3; r <= 5; r++ {
		f.do("LSL $%d, R%d, R%d", t.shift(), r, r)
	}
	f.prologue(t, p)
	f.label("row")
	for i := range 3 {
		f.do("MOVD R%d, R%d", i, 8+i)
	}
	f.do("MOVD R7, R11")
	t.strip(f, "", k.unroll, []string{"R8", "R9", "R10"}, func(count int, single bool) { body(f, p, count, single) })
	for i := range 3 {
		f.do("ADD R%d, R%d, R%d", 3+i, i, i)
	}
	f.do("SUBS $1, R6, R6")
	f.do("BNE row")
	f.do("RET")
}

// strip walks the R11 elements of a row, and moves the pointers along: a batch of vectors at a time, then
// single ones, then elements.
func (t target) strip(f *file, pass string, unroll int, pointers []string, body func(count int, single bool)) {
	for _, part := range []struct {
		label           string
		count, elements int
	}{{"several", unroll, unroll * t.vl()}, {"vector", 1, t.vl()}, {"element", 1, 1}} {
		label := pass + part.label
		f.do("SUBS $%d, R11, R11", part.elements)
		f.do("BLT %sdone", label)
		f.label(label)
		body(part.count, part.elements == 1)
		for _, p := range pointers {
			f.do("ADD $%d, %s, %[2]s", part.elements*t.size, p)
		}
		f.do("SUBS $%d, R11, R11", part.elements)
		f.do("BGE %s", label)
		f.label("%sdone", label)
		f.do("ADD $%d, R11, R11", part.elements)
	}
}
