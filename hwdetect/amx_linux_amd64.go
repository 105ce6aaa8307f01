package hwdetect

import "golang.org/x/sys/unix"

// requestAMX asks the kernel for the tile data state, once for the whole
// process: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). Without it the
// first tile instruction raises SIGILL, whatever CPUID says
// (Documentation/arch/x86/xstate.rst of Linux).
func requestAMX() string {
	const (
		archReqXcompPerm = 0x1023
		xtiledata        = 18
	)
	_, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, archReqXcompPerm, xtiledata, 0)
	if errno != 0 {
		return errno.Error()
	}
	return amxGranted
}
