//go:build cgo

package emulate

// The emulation itself may use whatever every CPU with AVX-512 has.

// #cgo CFLAGS: -O3 -march=haswell -D_GNU_SOURCE -Wall -Wextra
// int emulate_install(void);
import "C"

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/cpu"
)

// Supported says whether instructions can be emulated here.
func Supported() bool { return cpu.X86.HasAVX512F }

// Tiles says whether AMX can be emulated here. It cannot where the CPU has some of it:
// what the CPU lacks, such as the products of AMX-FP16, would miss the tiles that the
// CPU has loaded.
func Tiles() bool { return Supported() && !cpu.X86.HasAMXTile }

var install = sync.OnceValue(func() error {
	if !Supported() {
		return errors.New("emulate: needs a CPU with AVX-512")
	}
	if rc, err := C.emulate_install(); rc != 0 {
		return fmt.Errorf("emulate: install the signal handlers: %w", err)
	}
	return nil
})

// Install makes the instructions work in the whole process, for good. Further
// calls change nothing.
func Install() error { return install() }
