package cpu

import (
	"sync"

	"golang.org/x/sys/unix"
)

// amxRefused asks the kernel for the permission to use tiles, which holds for the
// whole process; the first tile instruction would raise SIGILL without it, whatever
// CPUID says. It returns why the kernel refuses, if it does.
var amxRefused = sync.OnceValue(func() string {
	const (
		archReqXcompPerm = 0x1023
		xtiledata        = 18
	)
	if _, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, archReqXcompPerm, xtiledata, 0); errno != 0 {
		return "Linux refused AMX: arch_prctl(ARCH_REQ_XCOMP_PERM, 18): " + errno.Error()
	}
	return ""
})
