package cpu

import "golang.org/x/sys/unix"

// adviseHuge is advice: a kernel without transparent huge pages refuses it, and
// the memory serves all the same.
func adviseHuge(mem []byte, huge bool) {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(mem, advice)
}
