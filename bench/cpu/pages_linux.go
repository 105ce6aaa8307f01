package cpu

import (
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// nearlyAll is the share of pages of one size from which on memory counts as being on these.
const nearlyAll = 0.95

// pageBytes is the size of nearly all pages behind memory that was touched: huge ones are advice, which the
// kernel follows as far as it has any. It is 0 for a mix, and where nothing tells.
func pageBytes(mem []byte) int64 {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil || len(mem) == 0 {
		return 0
	}
	switch share := hugeShare(string(smaps), uint64(uintptr(unsafe.Pointer(&mem[0])))); {
	case share <= 1-nearlyAll:
		return int64(os.Getpagesize())
	case share < nearlyAll:
		return 0
	}
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if err != nil {
		return 0
	}
	huge, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return huge
}

// hugeShare is the share of huge pages in what is resident of the mapping around an address, by the text of
// smaps (proc_pid_smaps(5)).
func hugeShare(smaps string, address uint64) float64 {
	inside, resident := false, 0.0
	for line := range strings.Lines(smaps) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if from, to, ok := strings.Cut(f[0], "-"); ok {
			lo, errLo := strconv.ParseUint(from, 16, 64)
			hi, errHi := strconv.ParseUint(to, 16, 64)
			inside = errLo == nil && errHi == nil && lo <= address && address < hi
			continue
		}
		if !inside {
			continue
		}
		kib, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "Rss:":
			resident = kib
		case "AnonHugePages:":
			if resident == 0 {
				return 0
			}
			return kib / resident
		}
	}
	return 0
}
