package main

import (
	"fmt"
	"math"
	"strings"
)

// row is what is done to the n elements of a row, and what it leaves in sums of them. From R8 on lie its
// pointers, of which the first are in the order of the parameters.
type row struct {
	name     string
	pointers string   // parameters, to elements
	scalars  string   // parameters behind n
	results  []string // of which each has a vector of partial results for each vector of a batch
	join     string   // what makes one of two of them
	empty    float64  // of no elements
	f        func(b *batch, results []vector)
}

func (t target) rows(f *file) {
	const first, second, third, fourth = "R8", "R9", "R10", "R13"
	for _, k := range []row{
		{name: "Sum", pointers: "src", results: []string{"sum"}, join: "fadd", f: func(b *batch, r []vector) {
			b.op("fadd", r[0], r[0], b.get(first))
		}},
		{name: "Largest", pointers: "src", results: []string{"largest"}, join: "fmax", empty: math.Inf(-1), f: func(b *batch, r []vector) {
			x := b.get(first)
			b.fill(x)
			b.op("fmax", r[0], r[0], x)
		}},
		{name: "Distance", pointers: "src, y", results: []string{"sum"}, join: "fadd", f: func(b *batch, r []vector) {
			x := b.get(first)
			b.op("fsub", x, x, b.get(second))
			b.op("fmla", r[0], x, x)
		}},
		{name: "Deviations", pointers: "src", scalars: "c", results: []string{"sum", "squares"}, join: "fadd", f: func(b *batch, r []vector) {
			x := b.get(first)
			b.op("fsub", x, x, b.argument("c"))
			b.clearOthers(x)
			b.op("fadd", r[0], r[0], x)
			b.op("fmla", r[1], x, x)
		}},
		{name: "ExpSum", pointers: "src", scalars: "scale, largest", results: []string{"sum"}, join: "fadd", f: func(b *batch, r []vector) {
			p := b.exp2Below(b.get(first))
			b.op("fadd", r[0], r[0], p)
		}},
		{name: "Exps", pointers: "dst, src", scalars: "scale, largest", results: []string{"sum"}, join: "fadd", f: func(b *batch, r []vector) {
			p := b.exp2Below(b.get(second))
			b.put(p, first)
			b.op("fadd", r[0], r[0], p)
		}},
		{name: "Normalize", pointers: "dst, src, gamma, beta", scalars: "mean, scale", f: func(b *batch, _ []vector) {
			x := b.get(second)
			b.op("fsub", x, x, b.argument("mean"))
			b.op("fmul", x, x, b.argument("scale"))
			y := b.get(fourth)
			b.op("fmla", y, x, b.get(third))
			b.put(y, first)
		}},
		{name: "ScaleMul", pointers: "dst, src, gamma", scalars: "scale", f: func(b *batch, _ []vector) {
			x := b.get(second)
			b.op("fmul", x, x, b.argument("scale"))
			b.op("fmul", x, x, b.get(third))
			b.put(x, first)
		}},
	} {
		t.emitRow(f, k)
	}
}

// exp2Below is 2^(scale (x - largest)), or 0 or the least normal number for less than that.
func (b *batch) exp2Below(x vector) vector {
	b.op("fsub", x, x, b.argument("largest"))
	b.op("fmul", x, x, b.argument("scale"))
	b.op("fmax", x, x, b.num(-float64(b.format().Bias)))
	p := b.exp2(x)
	b.clearOthers(p)
	return p
}

// clearOthers clears the lanes beside a single element.
func (b *batch) clearOthers(v vector) {
	if b.single {
		b.do("FMOV%s F%d, F%[2]d", b.lane(), v.first)
	}
}

// fill copies a single element to the lanes beside it.
func (b *batch) fill(v vector) {
	if b.single {
		b.do("VDUP V%d.%s[0], V%[1]d.%[3]s", v.first, b.lane(), b.lanes())
	}
}

func (t target) emitRow(f *file, k row) {
	registers := []string{"R8", "R9", "R10", "R13"}[:strings.Count(k.pointers, ",")+1]
	var results []vector
	for i := range k.results {
		results = append(results, vector{firstPin - (i+1)*long, 1})
	}
	body := func(f *file, p *pins, count int, single bool) {
		b := f.batch(t, p, count, long, single)
		for _, r := range results {
			b.taken[r.first/long] = true
		}
		k.f(b, results)
	}
	p := new(pins)
	body(newFile(), p, 1, true) // to learn what to pin
	params := fmt.Sprintf("%s *%s, n int", k.pointers, t.element())
	if k.scalars != "" {
		params += fmt.Sprintf(", %s %s", k.scalars, t.element())
	}
	result := ""
	if len(results) > 0 {
		result = fmt.Sprintf("(%s %s)", strings.Join(k.results, ", "), t.element())
	}
	f.function(fmt.Sprintf("vec%sF%dNEON", k.name, 8*t.size), params, result)
	f.load(strings.ReplaceAll(k.pointers, ",", "")+" n", append(registers, "R11")...)
	f.prologue(t, p)
	for _, r := range results {
		for u := range long {
			f.do("FMOVQ %d(R12), F%d", f.constant(t.bitsOf(k.empty)), r.at(u))
		}
	}
	t.strip(f, "", long, registers, func(count int, single bool) { body(f, p, count, single) })
	for i, r := range results {
		for width := long / 2; width > 0; width /= 2 {
			for u := range width {
				f.three(t.op(k.join), r.at(u), r.at(u), r.at(u+width))
			}
		}
		for lanes := t.vl(); lanes > 1; lanes /= 2 {
			f.three(t.op(k.join+"p"), r.first, r.first, r.first)
		}
		f.do("FMOV%s F%d, %s", t.lane(), r.first, f.arg(k.results[i]))
	}
	f.do("RET")
}
