//go:build linux && amd64 && cgo

package emulate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Programs that must end the process with messages of the runtime.
var crashes = []struct {
	name      string
	emulated  bool
	code      []string
	configure func(s *state)
	messages  []string
}{
	{"UD2", false, []string{"0f 0b"}, nil, []string{"SIGILL: illegal instruction"}},
	{"fault", false, []string{"8b 04 25 00 80 00 00"}, nil, []string{"SIGSEGV: segmentation violation", "addr=0x8000 "}}, // mov eax, [0x8000]
	{"rounding", true, []string{"62 e5 3c 58 58 cb"}, nil, []string{"SIGILL: illegal instruction"}},                      // vaddph with {rd-sae}
	{"emulated fault", true, []string{"62 f2 6d 48 50 0c 25 00 80 00 00"}, nil, // vpdpbusd zmm1, zmm2, [0x8000]
		[]string{"SIGSEGV: segmentation violation", "addr=0x8000 "}},
	{"no config", true, []string{tilezero0}, nil, []string{"TILEZERO: tile is not configured", "SIGILL"}},
	{"palette", true, []string{ldtilecfg}, func(s *state) { s.mem[atConfig] = 2 }, []string{"palette is neither 0 nor 1", "SIGILL"}},
	{"rows", true, []string{ldtilecfg}, func(s *state) { s.mem[atConfig+48] = 17 }, []string{"more than 16 rows", "SIGILL"}},
	{"shapes", true, []string{ldtilecfg, "c4 e2 6b 5e c1"}, func(s *state) { s.mem[atConfig+48] = 9 },
		[]string{"shapes of the destination and the sources differ", "SIGILL"}},
	{"depth", true, []string{ldtilecfg, "c4 e2 6b 5e c1"}, func(s *state) { s.mem[atConfig+50] = 9 },
		[]string{"not 4 times the rows of the second", "SIGILL"}},
	{"same tile", true, []string{ldtilecfg, "c4 e2 7b 5e c1"}, nil, []string{"the same tile twice", "SIGILL"}}, // tdpbssd tmm0, tmm1, tmm0
}

func TestCrashes(t *testing.T) {
	const env = "EMULATE_TEST_CRASH"
	for _, c := range crashes {
		t.Run(c.name, func(t *testing.T) {
			if c.emulated && cpu.X86.HasAMXTile {
				t.Skip("the CPU executes the instructions itself")
			}
			prog := assemble(t, c.code...)
			if os.Getenv(env) == c.name {
				s := new(state)
				s.configure(8, 8, 8)
				if c.configure != nil {
					c.configure(s)
				}
				prog.run(s)
				return
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestCrashes$/^"+strings.ReplaceAll(c.name, " ", "_")+"$")
			cmd.Env = append(os.Environ(), env+"="+c.name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("the process went on")
			}
			for _, m := range c.messages {
				if !strings.Contains(string(out), m) {
					t.Errorf("output lacks %q:\n%s", m, out)
				}
			}
		})
	}
}

// Elements that a mask excludes are not read.
func TestMaskedMemory(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}

	prog := assemble(t, "62 f2 6d 49 50 0c 0b") // vpdpbusd zmm1{k1}, zmm2, [rbx+rcx]
	r := rand.New(rand.NewPCG(13, 14))
	for n := 1; n < 16; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			got := randomState(r, nil)
			got.k[1] = 1<<n - 1
			last := mem[page-4*n : page]
			copy(last, got.mem[:])
			got.index = uint64(uintptr(unsafe.Pointer(&last[0])) - uintptr(unsafe.Pointer(&got.mem)))
			want := *got
			vpdpbusd.apply(operands{n: 16, d: 1, a: 2, b: memory, k: 1}, &want, got)
			prog.run(got)
			if *got != want {
				t.Error("wrong result")
			}
		})
	}
}

// Registers in their initial state are not in the frame of the signal.
func TestInitialState(t *testing.T) {
	got := randomState(rand.New(rand.NewPCG(15, 16)), nil)
	want := *got
	clear(want.z[:16])
	vpdpbusd.apply(operands{n: 16, d: 1, a: 2, b: memory}, &want, got)
	assemble(t, "c5 fc 77", "62 f2 6d 48 50 0b").run(got) // vzeroall; vpdpbusd zmm1, zmm2, [rbx]
	if *got != want {
		t.Error("wrong result")
	}
}

func TestRelativeToRIP(t *testing.T) {
	prog := assemble(t, "62 f2 6d 48 50 0d 10 00 00 00") // vpdpbusd zmm1, zmm2, [rip+0x10]
	got := randomState(rand.New(rand.NewPCG(17, 18)), nil)
	want := *got
	want.z[3] = vector(prog.code[prog.next+0x10:][:64])
	vpdpbusd.apply(operands{n: 16, d: 1, a: 2, b: 3}, &want, got)
	want.z[3] = got.z[3]
	prog.run(got)
	if *got != want {
		t.Error("wrong result")
	}
}
