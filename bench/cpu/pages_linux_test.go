package cpu

import (
	"errors"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"hwcal/schema"
)

func TestHugeShare(t *testing.T) {
	const smaps = `00400000-00c51000 r-xp 00000000 fe:00 1234                              /bin/x
Rss:                6000 kB
AnonHugePages:         0 kB
VmFlags: rd ex mr mw me
7f0000000000-7f0010000000 rw-p 00000000 00:00 0
Size:             262144 kB
Rss:              131072 kB
AnonHugePages:    126976 kB
ShmemPmdMapped:        0 kB
7f0010000000-7f0020000000 rw-p 00000000 00:00 0
Rss:                   0 kB
AnonHugePages:         0 kB
7f0030000000-7f0040000000 rw-p 00000000 00:00 0
`
	for address, want := range map[uint64]float64{
		0x400000: 0, 0x7f0000000000: 126976. / 131072, 0x7f000fffffff: 126976. / 131072, 0x7f0010000000: 0, 0x7f0030000000: 0, 0x10: 0,
	} {
		if got := hugeShare(smaps, address); got != want {
			t.Errorf("%#x: %g, want %g", address, got, want)
		}
	}
}

// What was asked to be on base pages is.
func TestPageBytes(t *testing.T) {
	a, err := newArena(8<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for i := range a.mem {
		a.mem[i] = 1
	}
	if got := pageBytes(a.mem); got != int64(os.Getpagesize()) {
		t.Errorf("pages of %d bytes", got)
	}
}

// Packed weights are on pages that the workers have touched, wherever it runs who packs them.
func TestPackedPagesAreTouched(t *testing.T) {
	b := testBackend(t, "")
	opened, err := b.Open(caseOf(t, "Linear_Bias", "8x8x8", schema.FP32, 1))
	if err != nil {
		t.Fatal(err)
	}
	ws := opened.(*workspace)
	_, err = ws.packedOnce(packedKey{form: "test"}, 64<<20, func(dst []byte) {
		pages := make([]byte, len(dst)/os.Getpagesize())
		from := uintptr(unsafe.Pointer(&dst[0])) &^ uintptr(os.Getpagesize()-1)
		if _, _, no := unix.Syscall(unix.SYS_MINCORE, from, uintptr(len(dst)), uintptr(unsafe.Pointer(&pages[0]))); no != 0 {
			t.Fatal(no)
		}
		if slices.Min(pages) != 1 {
			t.Error("pages were left to who packs")
		}
	})
	if err := errors.Join(err, ws.Close()); err != nil {
		t.Fatal(err)
	}
}
