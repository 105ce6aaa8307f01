package cpu

import (
	"syscall"
	"time"
	"unsafe"
)

var (
	kernel32       = syscall.NewLazyDLL("kernel32.dll")
	counterNow     = kernel32.NewProc("QueryPerformanceCounter")
	countFrequency = count(kernel32.NewProc("QueryPerformanceFrequency"))
	counterZero    = count(counterNow)
	timeZero       = time.Now()
)

// count is what such a procedure writes; none fails since Windows XP.
func count(of *syscall.LazyProc) (n int64) {
	_, _, _ = of.Call(uintptr(unsafe.Pointer(&n)))
	return n
}

// now is the time by the performance counter: the clock that time.Now reads moves in steps of half a millisecond or more.
func now() time.Time {
	n := count(counterNow) - counterZero
	whole, rest := n/countFrequency, n%countFrequency
	return timeZero.Add(time.Duration(whole)*time.Second + time.Duration(rest*int64(time.Second)/countFrequency))
}
