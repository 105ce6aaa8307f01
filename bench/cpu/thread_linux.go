package cpu

import "golang.org/x/sys/unix"

// thread is the operating system thread of a worker.
type thread struct{ tid int }

// yield offers the CPU to another thread.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// pin binds the calling thread to one CPU.
func (t *thread) pin(cpu int) error {
	t.tid = unix.Gettid()
	return unix.SchedSetaffinityDynamic(0, maskOf(cpu))
}

// maskOf has the bit of one CPU, whose number may be above the 1023 of a unix.CPUSet.
func maskOf(cpu int) unix.CPUSetDynamic {
	set := unix.NewCPUSet(cpu + 1)
	set.Set(cpu)
	return set
}
