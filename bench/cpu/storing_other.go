//go:build !amd64

package cpu

import "hwcal/schema"

func hasFarKernels(ISA, schema.DType) bool { return false }

func storeFence() {}
