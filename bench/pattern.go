package bench

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// Pattern is a named chain of operations over shapes. One of several operations
// is a fusion pattern: measured op by op against one kernel of the whole chain, or one of each
// part of a network.
// One of a single operation is measured as it is.
type Pattern struct {
	Name  string
	Group string // linear, conv, attention, elementwise, network; or compute, operation, memory
	Doc   string // one line
	// Dims names the dimensions of a shape, in order.
	Dims []string
	// Shapes that a run of this mode measures.
	Shapes func(schema.Mode) []Shape
	// Throughput are shapes that fill a GPU, nil for a pattern that has none of its own for it.
	Throughput func(schema.Mode) []Shape
	Own        bool // the shapes are a user's own, each to be measured in every dtype
	// Sweep are shapes of growing size: the way along which the map of crossovers
	// looks for where the verdict of a fusion pattern flips.
	Sweep []Shape
	// Chain builds the operations for a number of parts, one a thread, which bandwidth kernels
	// need to know; it refuses a shape that has no meaning. Callers use Build.
	Chain func(s Shape, parts int64) (Chain, error)
	// Quantized builds them for int8, where sums are int32 until they are requantized.
	// A fusion pattern without is defined over real numbers only.
	Quantized func(s Shape, parts int64) (Chain, error)
}

// In is the pattern as its operations are in the type.
func (p Pattern) In(d schema.DType) Pattern {
	if d == schema.INT8 && p.Quantized != nil {
		p.Chain = p.Quantized
	}
	return p
}

// Bounds of the elements of one tensor, and of the product of all dimensions, so that counts of FLOP and
// bytes stay far from overflowing.
const (
	maxElems   = 1 << 40
	maxProduct = 1 << 58
)

// Build makes the chain of a shape for a place. Every dimension but a padding must be 1 at
// least.
func (p Pattern) Build(s Shape, on Place) (Chain, error) {
	product := 1.0
	for _, d := range s {
		if d.N < 1 && d.Name != "padding" {
			return nil, fmt.Errorf("bench: %s %s: %s must be at least 1", p.Name, s, d.Name)
		}
		product *= max(1, float64(d.N))
		if d.Name == "kernel_size" || d.Name == "padding" { // one number for both directions
			product *= max(1, float64(d.N))
		}
	}
	if product > maxProduct {
		return nil, fmt.Errorf("bench: %s %s: more than counts of it could hold", p.Name, s)
	}
	c, err := p.Chain(s, int64(on.Parts()))
	if err != nil {
		return nil, fmt.Errorf("bench: %s %s: %w", p.Name, s, err)
	}
	for _, t := range c.Tensors() {
		if elems := t.approxElems(); elems > maxElems {
			return nil, fmt.Errorf("bench: %s %s: tensor %s has %.0f elements, more than %d", p.Name, s, t.Name, elems, int64(maxElems))
		}
	}
	return c, nil
}

var patterns []Pattern

// register adds a pattern. It is called from the init of the pattern's file.
func register(p Pattern) {
	if _, err := Lookup(p.Name); err == nil {
		panic("bench: pattern " + p.Name + " registered twice")
	}
	patterns = append(patterns, p)
	slices.SortStableFunc(patterns, func(a, b Pattern) int {
		return slices.Index(groups, a.Group) - slices.Index(groups, b.Group)
	})
}

// groups in the order in which they are listed and measured; those of fusion
// patterns come first.
var groups = []string{"linear", "conv", "attention", "elementwise", networkGroup, "compute", operationGroup, "memory"}

// networkGroup is that of whole networks, or layers of one: no kernel computes all of it. Its first
// dimension is the batch.
const networkGroup = "network"

// Network says whether the pattern is a network, of which kernels compute parts.
func (p Pattern) Network() bool { return p.Group == networkGroup }

// Samples is the number of images or sequences that an execution of a network takes; 0 for what is
// none.
func (p Pattern) Samples(s Shape) int64 {
	if !p.Network() {
		return 0
	}
	return s.Get("batch")
}

// operationGroup is that of the single operations of a network.
const operationGroup = "operation"

// Singles lists the single operations of a network, which runs measure beside the fusion patterns.
func Singles() []Pattern { return filter(func(p Pattern) bool { return p.Group == operationGroup }) }

// FusionGroups are the groups that hold fusion patterns.
var FusionGroups = groups[:5]

// Patterns lists all fusion patterns in a fixed order.
func Patterns() []Pattern { return filter(func(p Pattern) bool { return p.Fusion() }) }

// Operations lists all patterns of a single operation.
func Operations() []Pattern { return filter(func(p Pattern) bool { return !p.Fusion() }) }

func filter(keep func(Pattern) bool) []Pattern {
	var some []Pattern
	for _, p := range patterns {
		if keep(p) {
			some = append(some, p)
		}
	}
	return some
}

// Fusion says whether the pattern compares fused with unfused.
func (p Pattern) Fusion() bool { return slices.Contains(FusionGroups, p.Group) }

// Lookup finds a pattern by name, whatever the case of its letters.
func Lookup(name string) (Pattern, error) {
	var names []string
	for _, p := range patterns {
		if strings.EqualFold(p.Name, name) {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Pattern{}, fmt.Errorf("unknown pattern or operation %q, want one of %s", name, strings.Join(names, ", "))
}

// Select resolves --fusion-patterns: all, none, groups and names.
func Select(words []string) ([]Pattern, error) {
	var selected []Pattern
	add := func(p Pattern) {
		if !slices.ContainsFunc(selected, func(q Pattern) bool { return q.Name == p.Name }) {
			selected = append(selected, p)
		}
	}
	for _, word := range words {
		switch {
		case word == "none":
			if len(words) > 1 {
				return nil, fmt.Errorf("pattern \"none\" goes with no other")
			}
		case word == "all" || slices.Contains(FusionGroups, word):
			for _, p := range Patterns() {
				if word == "all" || p.Group == word {
					add(p)
				}
			}
		default:
			p, err := Lookup(word)
			if err != nil || !p.Fusion() {
				return nil, fmt.Errorf("unknown fusion pattern %q, want all, none, %s, or one of %s",
					word, strings.Join(FusionGroups, ", "), strings.Join(names(Patterns()), ", "))
			}
			add(p)
		}
	}
	return selected, nil
}

func names(ps []Pattern) []string {
	all := make([]string, len(ps))
	for i, p := range ps {
		all[i] = p.Name
	}
	return all
}
