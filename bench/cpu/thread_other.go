//go:build !linux

package cpu

import "runtime"

// thread is the operating system thread of a worker; it cannot be pinned here.
type thread struct{}

// yield offers the CPU to another goroutine.
func yield() { runtime.Gosched() }

func (*thread) pin(int) error { return nil }
