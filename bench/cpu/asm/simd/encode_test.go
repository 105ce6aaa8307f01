package simd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Every form, with registers on both sides of each extension bit, reads back in
// the disassembler of GNU binutils.
func TestEncodings(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("needs objdump of GNU binutils")
	}
	near := operand.Mem{Base: reg.RSI, Index: reg.R10, Scale: 1, Disp: 1024}
	far := operand.Mem{Base: reg.R12, Index: reg.RCX, Scale: 2, Disp: -64}
	cases := []struct {
		name string
		ops  []operand.Op
		want string // in Intel's order
	}{
		{"VDPBF16PS", []operand.Op{reg.Z1, reg.Z2, reg.Z3}, "vdpbf16ps zmm3,zmm2,zmm1"},
		{"VDPBF16PS", []operand.Op{reg.Z31, reg.Z24, reg.Z16}, "vdpbf16ps zmm16,zmm24,zmm31"},
		{"VDPBF16PS", []operand.Op{reg.Z8, reg.Z15, reg.Z23}, "vdpbf16ps zmm23,zmm15,zmm8"},
		{"VCVTNEPS2BF16", []operand.Op{reg.Z21, reg.Y10}, "vcvtneps2bf16 ymm10,zmm21"},
		{"VCVTNE2PS2BF16", []operand.Op{reg.Z1, reg.Z30, reg.Z11}, "vcvtne2ps2bf16 zmm11,zmm30,zmm1"},
		{"VFMADD213PH", []operand.Op{reg.Z17, reg.Z9, reg.Z30}, "vfmadd213ph zmm30,zmm9,zmm17"},
		{"VFMADD231PH", []operand.Op{reg.Z0, reg.Z29, reg.Z12}, "vfmadd231ph zmm12,zmm29,zmm0"},
		{"VPDPBUSD", []operand.Op{reg.Y1, reg.Y14, reg.Y9}, "{vex} vpdpbusd ymm9,ymm14,ymm1"},
		{"VPDPBUSD", []operand.Op{reg.Y12, reg.Y3, reg.Y0}, "{vex} vpdpbusd ymm0,ymm3,ymm12"},
		{"TDPBF16PS", []operand.Op{Tile(7), Tile(5), Tile(2)}, "tdpbf16ps tmm2,tmm5,tmm7"},
		{"TDPFP16PS", []operand.Op{Tile(6), Tile(4), Tile(0)}, "tdpfp16ps tmm0,tmm4,tmm6"},
		{"TDPBSSD", []operand.Op{Tile(6), Tile(5), Tile(3)}, "tdpbssd tmm3,tmm5,tmm6"},
		{"TILELOADD", []operand.Op{near, Tile(4)}, "tileloadd tmm4,[rsi+r10*1+0x400]"},
		{"TILELOADD", []operand.Op{far, Tile(7)}, "tileloadd tmm7,[r12+rcx*2-0x40]"},
		{"TILELOADDT1", []operand.Op{near, Tile(6)}, "tileloaddt1 tmm6,[rsi+r10*1+0x400]"},
		{"TILESTORED", []operand.Op{Tile(3), near}, "tilestored [rsi+r10*1+0x400],tmm3"},
		{"TILEZERO", []operand.Op{Tile(5)}, "tilezero tmm5"},
		{"LDTILECFG", []operand.Op{operand.Mem{Base: reg.RAX}}, "ldtilecfg [rax+0x0]"},
		{"LDTILECFG", []operand.Op{operand.Mem{Base: reg.R12, Disp: 8}}, "ldtilecfg [r12+0x8]"},
		{"TILERELEASE", nil, "tilerelease"},
	}
	var code []byte
	seen := map[string]bool{}
	for _, c := range cases {
		one, err := encode(c.name, c.ops...)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, one...)
		seen[c.name] = true
	}
	for name := range forms {
		if !seen[name] {
			t.Errorf("%s is not tested", name)
		}
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if _, instruction, ok := strings.Cut(line, ":\t"); ok {
			got = append(got, strings.Join(strings.Fields(instruction), " "))
		}
	}
	if len(got) != len(cases) {
		t.Fatalf("%d instructions became %d:\n%s", len(cases), len(got), out)
	}
	for i, c := range cases {
		if got[i] != c.want {
			t.Errorf("%s: %s, want %s", text(c.name, c.ops), got[i], c.want)
		}
	}
	if _, err := encode("TILEZERO", Tile(1), Tile(2)); err == nil {
		t.Error("an operand too many: no error")
	}
	if _, err := encode("VADDPH"); err == nil {
		t.Error("an unknown instruction: no error")
	}
}
