//go:build !amd64 && !arm64

package cpu

func vecAssembly[T float](ISA) (k vecKernels[T], ok bool) { return k, false }

func vecISA(ISA, string) ISA { return Portable }
