//go:build !amd64

package cpu

import "hwcal/schema"

func halfAssembly(schema.DType, ISA) (halfKernels, bool) { return halfKernels{}, false }

func sumAssembly(ISA) (sumKernels, bool) { return sumKernels{}, false }

func everySecondFor(unit) everySecondKernel { return nil }
