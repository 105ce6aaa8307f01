package cpu

import "unsafe"

// run is a run of cache lines that a micro-kernel fetches while it works, one every
// four steps, and the address of the run that follows. Only the addresses are used:
// what they point to may be gone.
type run struct {
	at    uintptr
	lines int
	next  uintptr
}

// fetchList is a list of runs. The kernel counts its head down; the last run leads to
// itself.
type fetchList struct {
	head run
	n    int
	runs [96]run // rows of A and of B, and a piece of each panel that rows of B go to
}

func (f *fetchList) clear() { f.n = 0 }

// add appends a run of bytes; a full list takes no more.
func (f *fetchList) add(p unsafe.Pointer, bytes int) {
	if bytes == 0 || f.n == len(f.runs)-1 {
		return
	}
	r := &f.runs[f.n]
	f.n++
	*r = run{uintptr(p), ceilDiv(bytes, 64), uintptr(unsafe.Pointer(&f.runs[f.n]))}
}

// first closes the list and returns its head.
func (f *fetchList) first() *run {
	end := &f.runs[f.n]
	*end = run{uintptr(unsafe.Pointer(f)), 1, uintptr(unsafe.Pointer(end))}
	f.head = f.runs[0]
	return &f.head
}
