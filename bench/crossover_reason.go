package bench

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// varying names the dimensions that differ between shapes.
func varying(shapes []Shape) []string {
	var names []string
	for i, d := range shapes[0] {
		if slices.ContainsFunc(shapes, func(s Shape) bool { return s[i] != d }) {
			names = append(names, d.Name)
		}
	}
	return names
}

// crossoverReason puts the points and flips into a sentence: "fuse from m=1 to m=64,
// neutral from m=256 to m=2048; the flip lies between m=64 and m=256".
func crossoverReason(c schema.Crossover) string {
	size := func(i int) string {
		var words []string
		for word := range strings.FieldsSeq(c.Points[i].Shape) {
			if name, _, _ := strings.Cut(word, "="); slices.Contains(c.Along, name) {
				words = append(words, word)
			}
		}
		return strings.Join(words, " ")
	}
	var ranges, flips, undecided []string
	for i, p := range c.Points {
		if p.Verdict == schema.Inconclusive {
			undecided = append(undecided, size(i))
		}
	}
	// A range of one verdict ends where a flip begins.
	first := slices.IndexFunc(c.Points, decided)
	for _, f := range c.Flips {
		ranges = append(ranges, span(f.From, size(first), size(f.Below)))
		flips = append(flips, fmt.Sprintf("between %s and %s", size(f.Below), size(f.Above)))
		first = f.Above
	}
	if first >= 0 {
		last := len(c.Points) - 1
		for !decided(c.Points[last]) {
			last--
		}
		ranges = append(ranges, span(c.Points[first].Verdict, size(first), size(last)))
	}
	if len(undecided) > 0 {
		ranges = append(ranges, "inconclusive at "+strings.Join(undecided, ", "))
	}
	where := "no flip"
	switch len(flips) {
	case 0:
	case 1:
		where = "the flip lies " + flips[0]
	default:
		where = "flips lie " + strings.Join(flips, " and ")
	}
	return strings.Join(ranges, ", ") + "; " + where
}

func decided(p schema.CrossoverPoint) bool { return p.Verdict != schema.Inconclusive }

func span(v schema.Verdict, from, to string) string {
	if from == to {
		return fmt.Sprintf("%s at %s", v, from)
	}
	return fmt.Sprintf("%s from %s to %s", v, from, to)
}
