package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// errLeftOut: runs of the mode do not measure it.
var errLeftOut = errors.New("left out of")

// lacks says that the device has kernels in the type, but none of the pattern, or that runs of the
// mode leave it out: nothing is planned for it.
func (c *Calibrator) lacks(pattern Pattern, d schema.DType) bool {
	if len(c.shapes(pattern)) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Runner.Backend.Kernels(), func(k KernelInfo) bool { return k.DType == d }) && len(c.kernelsLacking(pattern, d)) > 0
}

// lacksPeak says that the device has kernels in the type, but none of the register peak: what bench measures in it is held
// against the bandwidth alone.
func (c *Calibrator) lacksPeak(d schema.DType) bool {
	var chains []string
	for _, k := range c.Runner.Backend.Kernels() {
		if k.DType == d {
			chains = append(chains, k.Chain)
		}
	}
	return len(chains) > 0 && !slices.Contains(chains, "peak_fma")
}

// kernelsLacking are the chains of the pattern for which the device has no kernel in the type.
func (c *Calibrator) kernelsLacking(pattern Pattern, d schema.DType) []string {
	return pattern.Lacking(c.Runner.Backend, d, c.chainOf(pattern.In(d)))
}

// Lacking are the chains for which a device has no kernel in the type: that of the pattern, of whatever shape,
// or those of the operations of a network.
func (p Pattern) Lacking(b Backend, d schema.DType, c Chain) []string {
	want := []Chain{c}
	if p.Network() {
		want = slices.Collect(slices.Chunk(c, 1))
	}
	kernels := b.Kernels()
	var names []string
	for _, c := range want {
		if KernelOf(kernels, c, d) == nil {
			names = append(names, c.String())
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// KernelOf finds the best kernel of a chain, or nil. Those for int8 work on sums: where the chain has none, that of the
// same name is of something else.
func KernelOf(kernels []KernelInfo, c Chain, d schema.DType) *KernelInfo {
	if d == schema.INT8 && !slices.ContainsFunc(c.Tensors(), func(t *Tensor) bool { return t.Sums }) {
		return nil
	}
	i := slices.IndexFunc(kernels, func(k KernelInfo) bool { return k.DType == d && k.Chain == c.String() })
	if i < 0 {
		return nil
	}
	return &kernels[i]
}

// chainOf is the chain of a pattern, whatever its shape.
func (c *Calibrator) chainOf(pattern Pattern) Chain {
	chain, err := pattern.Build(c.shapes(pattern)[0], c.all())
	if err != nil {
		panic(err) // a shape of our own
	}
	return chain
}

// recordLacks names the patterns that are left out of the plan, and why, and the types in which a whole list is.
func (c *Calibrator) recordLacks() {
	leftOut := func(what string) { c.record(what, fmt.Errorf("%w %s runs", errLeftOut, c.Options.Mode)) }
	for _, list := range []struct {
		field    string
		patterns []Pattern
		dtypes   []schema.DType
	}{{"fusion_profiles", c.Options.Patterns, c.fusionDTypes()}, {"operation_profiles", c.Options.Operations, c.operationDTypes()}} {
		for _, d := range c.Options.DTypes {
			if len(list.patterns) > 0 && !slices.Contains(list.dtypes, d) {
				leftOut(list.field + "." + string(d))
			}
		}
	}
	switch sweeps, all := len(c.sweeps()), len(c.allSweeps()); {
	case sweeps == 0 && all > 0:
		leftOut("fusion_crossovers")
	case sweeps < all:
		leftOut("fusion_crossovers of patterns behind the first of their group, and in types other than the main one")
	}
	if len(c.Options.Operations) > 0 && c.Options.Mode != schema.Full && c.all() != c.one() {
		leftOut(fmt.Sprintf("operation_profiles on %s", c.one()))
	}
	for _, pattern := range matmuls {
		for _, d := range c.dtypesOf(pattern) {
			switch measured := c.matmulShapes(pattern, d); {
			case c.lacks(pattern, d):
			case len(measured) == 0:
				leftOut(fmt.Sprintf("%s %s", pattern.Name, d))
			case len(measured) < len(c.shapes(pattern)):
				leftOut(fmt.Sprintf("%s %s, all sizes but %d", pattern.Name, d, len(measured)))
			}
		}
	}
	for _, pattern := range slices.Concat(matmuls, c.Options.Operations, c.Options.Patterns) {
		if len(c.shapes(pattern)) == 0 {
			leftOut(pattern.Name)
			continue
		}
		for _, d := range c.dtypesOf(pattern) {
			if c.lacks(pattern, d) {
				why := ""
				if d == schema.INT8 && pattern.Fusion() && pattern.Quantized == nil {
					why = ", where it is defined over real numbers only"
				}
				c.record(fmt.Sprintf("%s %s", pattern.Name, d),
					fmt.Errorf("no kernel for %s in %s%s: %w", strings.Join(c.kernelsLacking(pattern, d), ", "), d, why, ErrUnsupported))
			}
		}
	}
}
