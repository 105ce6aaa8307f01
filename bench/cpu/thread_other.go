//go:build !linux

package cpu

// thread is the operating system thread of a worker; it cannot be pinned here.
type thread struct{}

func (*thread) pin(int) error { return nil }
