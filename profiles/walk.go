package profiles

import (
	"fmt"
	"iter"

	"hwcal/schema"
)

// eachDevice yields every device with its path.
func (c *checker) eachDevice() iter.Seq2[string, *schema.Device] {
	return func(yield func(string, *schema.Device) bool) {
		for i := range c.Devices {
			if !yield(fmt.Sprintf("/devices/%d", i), &c.Devices[i]) {
				return
			}
		}
	}
}

// computes yields the entries of compute and operation_profiles of a device.
func computes(at string, d *schema.Device) iter.Seq2[string, *schema.Compute] {
	return func(yield func(string, *schema.Compute) bool) {
		for _, list := range []struct {
			name    string
			entries []schema.Compute
		}{{"compute", d.Compute}, {"operation_profiles", d.OperationProfiles}} {
			for i := range list.entries {
				if !yield(fmt.Sprintf("%s/%s/%d", at, list.name, i), &list.entries[i]) {
					return
				}
			}
		}
	}
}

// fusions yields the fusion profiles of every device.
func (c *checker) fusions() iter.Seq2[string, *schema.Fusion] {
	return func(yield func(string, *schema.Fusion) bool) {
		for at, d := range c.eachDevice() {
			for i := range d.FusionProfiles {
				if !yield(fmt.Sprintf("%s/fusion_profiles/%d", at, i), &d.FusionProfiles[i]) {
					return
				}
			}
		}
	}
}

// crossovers yields the crossovers of every device.
func (c *checker) crossovers() iter.Seq2[string, *schema.Crossover] {
	return func(yield func(string, *schema.Crossover) bool) {
		for at, d := range c.eachDevice() {
			for i := range d.FusionCrossovers {
				if !yield(fmt.Sprintf("%s/fusion_crossovers/%d", at, i), &d.FusionCrossovers[i]) {
					return
				}
			}
		}
	}
}
