package main

import (
	"fmt"
	"strings"
)

// vectors are the instructions with three vectors, after the Arm Architecture Reference Manual
// (DDI 0487), C7.2: the code with all registers 0, and how destination and sources are arranged.
var vectors = map[string]struct {
	code     uint32
	to, from string
}{
	"fmla.4s":   {0x4e20cc00, "4s", "4s"},
	"fmla.2d":   {0x4e60cc00, "2d", "2d"},
	"fmls.4s":   {0x4ea0cc00, "4s", "4s"},
	"fmls.2d":   {0x4ee0cc00, "2d", "2d"},
	"fadd.4s":   {0x4e20d400, "4s", "4s"},
	"fadd.2d":   {0x4e60d400, "2d", "2d"},
	"fsub.4s":   {0x4ea0d400, "4s", "4s"},
	"fsub.2d":   {0x4ee0d400, "2d", "2d"},
	"fdiv.4s":   {0x6e20fc00, "4s", "4s"},
	"fdiv.2d":   {0x6e60fc00, "2d", "2d"},
	"fmul.4s":   {0x6e20dc00, "4s", "4s"},
	"fmul.2d":   {0x6e60dc00, "2d", "2d"},
	"fmax.4s":   {0x4e20f400, "4s", "4s"},
	"fmax.2d":   {0x4e60f400, "2d", "2d"},
	"fmin.4s":   {0x4ea0f400, "4s", "4s"},
	"fmin.2d":   {0x4ee0f400, "2d", "2d"},
	"faddp.4s":  {0x6e20d400, "4s", "4s"},
	"faddp.2d":  {0x6e60d400, "2d", "2d"},
	"fmaxp.4s":  {0x6e20f400, "4s", "4s"},
	"fmaxp.2d":  {0x6e60f400, "2d", "2d"},
	"fmla.8h":   {0x4e400c00, "8h", "8h"},
	"fmls.8h":   {0x4ec00c00, "8h", "8h"},
	"fadd.8h":   {0x4e401400, "8h", "8h"},
	"trn1.4s":   {0x4e802800, "4s", "4s"},
	"trn2.4s":   {0x4e806800, "4s", "4s"},
	"trn1.2d":   {0x4ec02800, "2d", "2d"},
	"trn2.2d":   {0x4ec06800, "2d", "2d"},
	"sdot.4s":   {0x4e809400, "4s", "16b"},
	"smmla.4s":  {0x4e80a400, "4s", "16b"},
	"bfdot.4s":  {0x6e40fc00, "4s", "8h"},
	"bfmmla.4s": {0x6e40ec00, "4s", "8h"},
}

// elements are those whose last operand is one element of a vector, or a group of them of 32 bits.
var elements = map[string]struct {
	code uint32
	// index says which of the bits 11, 21 and 20 hold it, from its highest bit on.
	index          []int
	from, selected string
}{
	"fmla.4s":  {0x4f801000, []int{11, 21}, "4s", "s"},
	"fmla.2d":  {0x4fc01000, []int{11}, "2d", "d"},
	"fmla.8h":  {0x4f001000, []int{11, 21, 20}, "8h", "h"},
	"sdot.4s":  {0x4f80e000, []int{11, 21}, "16b", "4b"},
	"bfdot.4s": {0x4f40f000, []int{11, 21}, "8h", "2h"},
}

// pairs are the instructions with two vectors.
var pairs = map[string]uint32{
	"fabs.4s": 0x4ea0f800,
	"fabs.2d": 0x4ee0f800,
	"fneg.4s": 0x6ea0f800,
	"fneg.2d": 0x6ee0f800,
}

// two emits an instruction on two vectors: d = op n.
func (f *file) two(name string, d, n int) {
	code, ok := pairs[name]
	if !ok {
		panic("neon: no code for " + name)
	}
	op, arrangement, _ := strings.Cut(name, ".")
	f.word(code|uint32(n<<5|d), "%s v%d.%s, v%d.%[3]s", op, d, arrangement, n)
}

// three emits an instruction on vectors: d = n op m, or d += n op m.
func (f *file) three(name string, d, n, m int) {
	v, ok := vectors[name]
	if !ok {
		panic("neon: no code for " + name)
	}
	op, _, _ := strings.Cut(name, ".")
	f.word(v.code|uint32(m<<16|n<<5|d), "%s v%d.%s, v%d.%s, v%d.%s", op, d, v.to, n, v.from, m, v.from)
}

// element emits d += n op m[index].
func (f *file) element(name string, d, n, m, index int) {
	e, ok := elements[name]
	if !ok || m >= 1<<5>>(len(e.index)/3) || index >= 1<<len(e.index) {
		panic(fmt.Sprintf("neon: no code for %s by element %d of v%d", name, index, m))
	}
	code := e.code | uint32(m<<16|n<<5|d)
	for i, at := range e.index {
		code |= uint32(index >> (len(e.index) - 1 - i) & 1 << at)
	}
	op, to, _ := strings.Cut(name, ".")
	f.word(code, "%s v%d.%s, v%d.%s, v%d.%s[%d]", op, d, to, n, e.from, m, e.selected, index)
}

// widen emits the conversion of a vector of halves to two of fp32, at d and behind it.
func (f *file) widen(d, n int) {
	f.word(0x0e217800|uint32(n<<5|d), "fcvtl v%d.4s, v%d.4h", d, n)
	f.word(0x4e217800|uint32(n<<5|d+1), "fcvtl2 v%d.4s, v%d.8h", d+1, n)
}

// storePast emits stnp of two vectors: a hint that they will not be read soon.
func (f *file) storePast(first, second, base, offset int) {
	text := fmt.Sprintf("stnp q%d, q%d, [x%d", first, second, base)
	if offset != 0 {
		text += fmt.Sprintf(", #%d", offset)
	}
	f.word(0xac000000|uint32(offset/16&0x7f<<15|second<<10|base<<5|first), "%s]", text)
}

// word adds an instruction as its code, and beside it the text of GNU's disassembler.
func (f *file) word(code uint32, format string, args ...any) {
	fmt.Fprintf(&f.text, "\tWORD $0x%08x // %s\n", code, fmt.Sprintf(format, args...))
}
