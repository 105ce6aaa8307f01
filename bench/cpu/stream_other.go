//go:build !amd64 && !arm64

package cpu

func streamKernels(ISA) []streamKernel { return portableStream }
