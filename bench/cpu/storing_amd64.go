package cpu

import "hwcal/schema"

// hasFarKernels says whether kernels for a type can store past the caches, and wait for loads from memory.
func hasFarKernels(isa ISA, d schema.DType) bool {
	return isa != Portable && (d.Bytes() >= schema.FP32.Bytes() || halvesAlone(d, isa))
}

// halvesAlone says whether an instruction set has kernels for halves that need no memory for what is computed.
func halvesAlone(d schema.DType, isa ISA) bool {
	k, _ := halfAssembly(d, isa)
	return k.exp != nil
}

// storeFence makes what was stored past the caches visible before anything after it.
func storeFence()
