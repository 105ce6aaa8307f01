package main

import "fmt"

// mapped is an element-wise operation on an m x n matrix, dst[i][j] = f(src[i][j], y[i][j], a, b), of
// vectors of it.
type mapped struct {
	name string
	y    bool // whether it reads y; all but Set read src
	f    func(x, y int)
}

// Vectors of x are in the first registers and those of y behind them; then come constants.
const (
	mapUnroll = 8
	mapY      = mapUnroll
	mapA      = 2 * mapUnroll
	mapB      = mapA + 1
	mapZero   = mapA + 2
)

func (t target) maps(f *file) {
	three := func(name string, d, n, m int) { f.three(t.op(name), d, n, m) }
	with := func(name string) func(x, y int) { return func(x, y int) { three(name, x, x, y) } }
	floor := func(x int) { three("fmax", x, x, mapZero) } // NaN stays NaN
	for _, k := range []mapped{
		{"Relu", false, func(x, _ int) { floor(x) }},
		{"Scale", false, func(x, _ int) { three("fmul", x, x, mapA) }},
		{"Affine", false, func(x, _ int) { three("fmul", x, x, mapA); three("fadd", x, x, mapB) }},
		{"Set", false, func(x, _ int) { f.do("VORR V%d.B16, V%[1]d.B16, V%d.B16", mapB, x) }},
		{"Add", true, with("fadd")},
		{"AddRelu", true, func(x, y int) { three("fadd", x, x, y); floor(x) }},
		{"Sub", true, with("fsub")},
		{"Mul", true, with("fmul")},
		{"Div", true, with("fdiv")},
		{"Max", true, with("fmax")},
	} {
		t.emitMap(f, k)
	}
}

// emitMap writes one map: of each row eight vectors at once, then one, then single elements, which
// leave 0 in the other lanes of theirs.
func (t target) emitMap(f *file, k mapped) {
	f.function(fmt.Sprintf("vec%sF%dNEON", k.name, 8*t.size), fmt.Sprintf("dst, src, y *%[1]s, ldd, lds, ldy, m, n int, a, b %[1]s, nt bool", t.element()), "")
	f.load("dst src y ldd lds ldy m n", "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7")
	for r := 3; r <= 5; r++ {
		f.do("LSL $%d, R%d, R%d", t.shift(), r, r)
	}
	for i, name := range []string{"a", "b"} {
		f.do("FMOV%s %s, F%d", t.lane(), f.arg(name), mapA+i)
		f.do("VDUP V%d.%s[0], V%d.%s", mapA+i, t.lane(), mapA+i, t.lanes())
	}
	f.zero(mapZero, mapZero+1)
	f.label("row")
	for i := range 3 {
		f.do("MOVD R%d, R%d", i, 8+i)
	}
	f.do("MOVD R7, R11")
	part := func(label string, elements int, body func()) {
		f.do("SUBS $%d, R11, R11", elements)
		f.do("BLT %sdone", label)
		f.label(label)
		body()
		for i := range 3 {
			f.do("ADD $%d, R%d, R%d", elements*t.size, 8+i, 8+i)
		}
		f.do("SUBS $%d, R11, R11", elements)
		f.do("BGE %s", label)
		f.label("%sdone", label)
		f.do("ADD $%d, R11, R11", elements)
	}
	part("several", mapUnroll*t.vl(), func() {
		for i := 0; i < mapUnroll; i += 2 {
			if k.name != "Set" {
				f.do("FLDPQ %d(R9), (F%d, F%d)", 16*i, i, i+1)
			}
			if k.y {
				f.do("FLDPQ %d(R10), (F%d, F%d)", 16*i, mapY+i, mapY+i+1)
			}
		}
		for i := range mapUnroll {
			k.f(i, mapY+i)
		}
		for i := 0; i < mapUnroll; i += 2 {
			f.do("FSTPQ (F%d, F%d), %d(R8)", i, i+1, 16*i)
		}
	})
	for _, single := range []struct {
		label, move string
		elements    int
	}{{"vector", "FMOVQ", t.vl()}, {"element", "FMOV" + t.lane(), 1}} {
		part(single.label, single.elements, func() {
			if k.name != "Set" {
				f.do("%s (R9), F0", single.move)
			}
			if k.y {
				f.do("%s (R10), F%d", single.move, mapY)
			}
			k.f(0, mapY)
			f.do("%s F0, (R8)", single.move)
		})
	}
	for i := range 3 {
		f.do("ADD R%d, R%d, R%d", 3+i, i, i)
	}
	f.do("SUBS $1, R6, R6")
	f.do("BNE row")
	f.do("RET")
}
