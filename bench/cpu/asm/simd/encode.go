package simd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tile is one of the eight tile registers of AMX.
type Tile int

// Asm is the name of the register.
func (t Tile) Asm() string { return fmt.Sprintf("TMM%d", int(t)) }

// Mandatory prefixes and opcode maps (Intel SDM vol. 2A, 2.3 and 2.7).
const (
	np, p66, pF3, pF2 = 0, 1, 2, 3
	map0F38, map6     = 2, 6
)

// form is how an instruction is encoded: which of the fields ModRM.rm, vvvv and
// ModRM.reg have an operand, in Go's order.
type form struct {
	evex                    bool
	length                  byte // of a vector: 0, 1, 2 for 128, 256, 512 bits
	prefix, opcodes, opcode byte
	fields                  []field
}

type field int

const (
	rm field = iota
	vvvv
	regs
)

// forms are the instructions that neither avo nor Go's assembler knows.
var forms = map[string]form{
	"VDPBF16PS":      {true, 2, pF3, map0F38, 0x52, []field{rm, vvvv, regs}},
	"VCVTNEPS2BF16":  {true, 2, pF3, map0F38, 0x72, []field{rm, regs}},
	"VCVTNE2PS2BF16": {true, 2, pF2, map0F38, 0x72, []field{rm, vvvv, regs}},
	"VFMADD213PH":    {true, 2, p66, map6, 0xa8, []field{rm, vvvv, regs}},
	"VFMADD231PH":    {true, 2, p66, map6, 0xb8, []field{rm, vvvv, regs}},
	"VPDPBUSD":       {false, 1, p66, map0F38, 0x50, []field{rm, vvvv, regs}}, // of AVX-VNNI; Go's is EVEX
	"TDPBF16PS":      {false, 0, pF3, map0F38, 0x5c, []field{vvvv, rm, regs}},
	"TDPFP16PS":      {false, 0, pF2, map0F38, 0x5c, []field{vvvv, rm, regs}},
	"TDPBSSD":        {false, 0, pF2, map0F38, 0x5e, []field{vvvv, rm, regs}},
	"TILELOADD":      {false, 0, pF2, map0F38, 0x4b, []field{rm, regs}},
	"TILELOADDT1":    {false, 0, p66, map0F38, 0x4b, []field{rm, regs}},
	"TILESTORED":     {false, 0, pF3, map0F38, 0x4b, []field{regs, rm}},
	"TILEZERO":       {false, 0, pF2, map0F38, 0x49, []field{regs}},
	"LDTILECFG":      {false, 0, np, map0F38, 0x49, []field{rm}},
	"TILERELEASE":    {false, 0, np, map0F38, 0x49, nil},
}

// waiting precedes the name of an instruction of forms until its registers are allocated. avo knows some of the names,
// too, for other encodings.
const waiting = "waiting "

// Emit adds an instruction of forms to the function: as bytes, which those with registers that have yet to be
// allocated become when they are.
func Emit(c *build.Context, name string, ops ...operand.Op) {
	i := &ir.Instruction{Opcode: waiting + name, Operands: ops}
	if slices.ContainsFunc(ops, isVirtual) {
		last := len(ops) - 1 // what is written
		i.Inputs, i.Outputs = ops[:last:last], ops[last:]
	} else if err := toBytes(i); err != nil {
		panic(err)
	}
	c.Instruction(i)
}

func isVirtual(op operand.Op) bool {
	_, virtual := op.(reg.Virtual)
	return virtual
}

// toBytes replaces an instruction of forms by its bytes. avo takes only operands of its own: all stands in the
// name.
func toBytes(i *ir.Instruction) error {
	name := strings.TrimPrefix(i.Opcode, waiting)
	code, err := encode(name, i.Operands...)
	if err != nil {
		return err
	}
	parts := make([]string, len(code))
	for i, x := range code {
		parts[i] = fmt.Sprintf("BYTE $0x%02x", x)
	}
	i.Opcode = strings.Join(parts, "; ") + " // " + text(name, i.Operands)
	i.Operands = nil
	return nil
}

// Known says whether Emit knows an instruction.
func Known(name string) bool {
	_, ok := forms[name]
	return ok
}

func text(name string, ops []operand.Op) string {
	words := make([]string, len(ops))
	for i, op := range ops {
		words[i] = op.Asm()
	}
	return strings.TrimSpace(name + " " + strings.Join(words, ", "))
}

func encode(name string, ops ...operand.Op) ([]byte, error) {
	f, ok := forms[name]
	if !ok {
		return nil, fmt.Errorf("simd: no encoding for %s", name)
	}
	if len(ops) != len(f.fields) {
		return nil, fmt.Errorf("simd: %s: want %d operands", text(name, ops), len(f.fields))
	}
	var in [3]operand.Op
	for i, at := range f.fields {
		in[at] = ops[i]
	}
	regField, v := number(in[regs]), number(in[vvvv])
	modRM := byte(regField&7) << 3
	var tail []byte
	var x, b int // the bits above the low three of index and base; of a register, bits 4 and 3
	switch op := in[rm].(type) {
	case operand.Mem:
		base := number(op.Base)
		b = base >> 3
		disp := []byte{byte(op.Disp), byte(op.Disp >> 8), byte(op.Disp >> 16), byte(op.Disp >> 24)}
		if op.Index == nil && base&7 != 4 {
			modRM |= 0x80 | byte(base&7)
			tail = disp
			break
		}
		index, scale := 4, byte(0)
		if op.Index != nil {
			index, scale = number(op.Index), map[uint8]byte{1: 0, 2: 1, 4: 2, 8: 3}[op.Scale]
		}
		x = index >> 3
		modRM |= 0x84
		tail = append([]byte{scale<<6 | byte(index&7)<<3 | byte(base&7)}, disp...)
	default:
		n := number(op)
		modRM |= 0xc0 | byte(n&7)
		x, b = n>>4, n>>3&1
	}
	inverted := func(bits, at int) byte { return byte(^bits&1) << at }
	var code []byte
	if f.evex {
		code = []byte{0x62,
			inverted(regField>>3, 7) | inverted(x, 6) | inverted(b, 5) | inverted(regField>>4, 4) | f.opcodes,
			byte(^v&15)<<3 | 4 | f.prefix,
			f.length<<5 | inverted(v>>4, 3),
		}
	} else {
		code = []byte{0xc4,
			inverted(regField>>3, 7) | inverted(x, 6) | inverted(b, 5) | f.opcodes,
			byte(^v&15)<<3 | f.length<<2 | f.prefix,
		}
	}
	return append(append(code, f.opcode, modRM), tail...), nil
}

// number of a register in the encoding; 0 for a field without operand.
func number(op operand.Op) int {
	switch r := op.(type) {
	case Tile:
		return int(r)
	case reg.Physical:
		return int(r.PhysicalIndex())
	}
	return 0
}
