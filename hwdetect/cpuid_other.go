//go:build !amd64

package hwdetect

import (
	"slices"

	"github.com/klauspost/cpuid/v2"
)

// addArch takes the features that cpuid/v2 finds, which on arm64 are those that
// the kernel allows. Family and model stay 0: they are notions of x86.
func (id *CPUID) addArch(c cpuid.CPUInfo) {
	found := c.FeatureSet()
	for _, isa := range armISA {
		if slices.Contains(found, isa.cpuid) {
			id.Flags = append(id.Flags, isa.name)
		}
	}
}
