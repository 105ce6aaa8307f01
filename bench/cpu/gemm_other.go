//go:build !amd64 && !arm64

package cpu

func newGEMMKernels[T float](ISA) gemmKernels[T] { return portableGEMMKernels[T]() }
