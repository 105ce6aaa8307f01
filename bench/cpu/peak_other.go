//go:build !amd64 && !arm64

package cpu

// peakKernelOf is the peak kernel of one family: here only the portable one.
func peakKernelOf[T float](ISA) peakKernel[T] { return portablePeak[T]() }
