//go:build !amd64

package cpu

func newTapsKernel[T float](ISA) tapsKernel[T] { return tapsPortable[T] }
