//go:build !amd64

package cpu

func newTapsKernel[T float](ISA) tapsKernel[T] { return tapsPortable[T] }

func newPlanesKernel[T float](ISA, int) planesKernel[T] { return nil }

func newWholePlanes[T float](ISA, int, int) (planesKernel[T], int) { return nil, 0 }
