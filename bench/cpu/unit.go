package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"hwcal/schema"
)

// unit is an instruction set that computes in an element type narrower than fp32.
// There is no portable one: emulating a type says nothing about the machine.
type unit struct {
	name         string // in names of kernels
	title        string
	dtype        schema.DType
	isa          ISA // to which it belongs, as HWCAL_ISA caps it
	needs        []cpuid.FeatureID
	flopPerCycle float64 // that no core exceeds
	gemm         narrowKernels
	peak         dotPeak
}

// usableUnits are those of a type that this process can use, best first. If there is
// none it says why.
func usableUnits(d schema.DType) (usable []unit, reason string) {
	var lacking, reasons []string
	known := false
	for _, u := range units {
		if u.dtype != d {
			continue
		}
		known = true
		switch refused := ""; {
		case !cpuid.CPU.Supports(u.needs...):
			lacking = append(lacking, u.title)
		case !allowed(u.isa):
			reasons = append(reasons, "HWCAL_ISA leaves out "+u.title)
		default:
			if u.isa == AMX {
				refused = amxRefused()
			}
			if refused != "" {
				reasons = append(reasons, refused)
				continue
			}
			// AVX-VNNI is half of AVX512-VNNI.
			if u.isa != AVX2 || !slices.ContainsFunc(usable, func(o unit) bool { return o.isa == AVX512 }) {
				usable = append(usable, u)
			}
		}
	}
	switch {
	case !known:
		return nil, fmt.Sprintf("this version has no kernels in %s for %s", d, runtime.GOARCH)
	case len(lacking) == 1:
		reasons = append(reasons, "the CPU has no "+lacking[0])
	case len(lacking) > 1:
		last := len(lacking) - 1
		reasons = append(reasons, "the CPU has neither "+strings.Join(lacking[:last], ", ")+" nor "+lacking[last])
	}
	return usable, strings.Join(reasons, "; ")
}

// vectorUnit is the best one of vectors, if u is one of tiles.
func vectorUnit(us []unit, u unit) *unit {
	i := slices.IndexFunc(us, func(o unit) bool { return o.gemm.anyRows })
	if !u.gemm.sparesL1 || i < 0 {
		return nil
	}
	return &us[i]
}

// unitNamed finds the unit of that name, or the best for no name.
func unitNamed(us []unit, name string) (unit, bool) {
	i := slices.IndexFunc(us, func(u unit) bool { return name == "" || u.name == name })
	if i < 0 {
		return unit{}, false
	}
	return us[i], true
}
