//go:build !amd64

package cpu

func streamKernels(ISA) []streamKernel { return portableStream }
