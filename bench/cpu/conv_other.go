//go:build !amd64

package cpu

func newConvKernels[T float](isa ISA) convKernels[T] {
	return portableConvKernels[T](newGEMMKernels[T](isa).vl)
}
