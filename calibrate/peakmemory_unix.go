//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakMemory is the largest resident memory of this process in bytes.
func peakMemory() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) // bytes there
	}
	return int64(u.Maxrss) << 10
}
