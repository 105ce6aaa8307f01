//go:build !amd64

package cpu

func vecAssembly[T float](ISA) (k vecKernels[T], ok bool) { return k, false }
