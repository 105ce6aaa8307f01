package simd

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Nth is what lies i rows behind a base, up to four; ld3 holds three times ld.
func Nth(base, ld, ld3 reg.Register, i, disp int) operand.Mem {
	m := operand.Mem{Base: base, Disp: disp}
	switch i {
	case 1, 2, 4:
		m.Index, m.Scale = ld, uint8(i)
	case 3:
		m.Index, m.Scale = ld3, 1
	}
	return m
}
