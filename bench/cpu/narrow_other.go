//go:build !amd64

package cpu

import "hwcal/schema"

func conversionAssembly(schema.DType, ISA) (conversion, bool) { return conversion{}, false }

func sumAssembly(ISA) (sumKernels, bool) { return sumKernels{}, false }
