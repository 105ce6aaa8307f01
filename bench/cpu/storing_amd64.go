package cpu

import "hwcal/schema"

// hasFarKernels says whether kernels for a type can store past the caches, and wait for loads from memory.
func hasFarKernels(isa ISA, d schema.DType) bool {
	return isa != Portable && (d.Bytes() >= schema.FP32.Bytes() || halvesAlone(d, isa))
}

// storeFence makes what was stored past the caches visible before anything after it.
func storeFence()
