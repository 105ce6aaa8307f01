//go:build linux && amd64 && cgo

package emulate

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// state is what a program loads into the registers before its instructions, and
// stores after them.
type state struct {
	z     [32]vector
	k     [8]uint64
	index uint64     // RCX
	r9    uint64     // R9
	mem   [8192]byte // its address is in RBX, RBP, R12 and R13
}

type vector [64]byte

func (v *vector) u16(i int) uint16 { return binary.LittleEndian.Uint16(v[2*i:]) }
func (v *vector) u32(i int) uint32 { return binary.LittleEndian.Uint32(v[4*i:]) }

// program is machine code between loading and storing a state. A package with
// cgo cannot contain assembly of Go, hence the bytes.
type program struct {
	code []byte
	next int // offset behind the instructions, to which RIP points
}

// assemble makes a program of instructions in hexadecimal.
func assemble(t *testing.T, instructions ...string) *program {
	t.Helper()
	if !Supported() {
		t.Skip("the CPU lacks AVX-512")
	}
	if err := Install(); err != nil {
		t.Fatal(err)
	}
	body, err := hex.DecodeString(strings.ReplaceAll(strings.Join(instructions, ""), " ", ""))
	if err != nil {
		t.Fatal(err)
	}

	var s state
	var c []byte
	at := func(offset uintptr, code ...byte) { // code with the address RDI + offset
		c = binary.LittleEndian.AppendUint32(append(c, code...), uint32(offset))
	}
	registers := func(kmovq, vmovups byte) {
		for i := range s.k {
			at(unsafe.Offsetof(s.k)+8*uintptr(i), 0xC4, 0xE1, 0xF8, kmovq, byte(0x87|i<<3))
		}
		for i := range s.z {
			high := byte(^i>>3&1)<<7 | byte(^i>>4&1)<<4
			at(64*uintptr(i), 0x62, 0x61|high, 0x7C, 0x48, vmovups, byte(0x87|i&7<<3))
		}
	}

	c = append(c, 0x48, 0x89, 0xC7)                // mov rdi, rax: the first argument
	c = append(c, 0x55)                            // push rbp
	at(unsafe.Offsetof(s.mem), 0x48, 0x8D, 0x9F)   // lea rbx, mem
	at(unsafe.Offsetof(s.index), 0x48, 0x8B, 0x8F) // mov rcx, index
	at(unsafe.Offsetof(s.r9), 0x4C, 0x8B, 0x8F)    // mov r9, r9
	c = append(c, 0x48, 0x89, 0xDD)                // mov rbp, rbx
	c = append(c, 0x49, 0x89, 0xDC)                // mov r12, rbx
	c = append(c, 0x49, 0x89, 0xDD)                // mov r13, rbx
	registers(0x90, 0x10)                          // load
	c = append(c, body...)                         //
	next := len(c)                                 //
	registers(0x91, 0x11)                          // store
	at(unsafe.Offsetof(s.r9), 0x4C, 0x89, 0x8F)    // mov r9, r9
	c = append(c, 0x5D)                            // pop rbp
	c = append(c, 0xC5, 0xF8, 0x77)                // vzeroupper
	c = append(c, 0xC4, 0x41, 0x01, 0xEF, 0xFF)    // vpxor xmm15: the zero register of Go
	c = append(c, 0xC3)                            // ret

	mem, err := unix.Mmap(-1, 0, len(c), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	copy(mem, c)
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	return &program{mem, next}
}

// run calls the code as a Go function, whose value is a pointer to its address.
func (p *program) run(s *state) {
	entry := &p.code[0]
	value := &entry
	(*(*func(*state))(unsafe.Pointer(&value)))(s)
}
