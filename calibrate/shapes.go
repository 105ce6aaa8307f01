package main

import (
	"fmt"
	"slices"

	"hwcal/bench"
	"hwcal/profiles"
	"hwcal/schema"
)

// withShapes reads a user's shapes: the patterns of the file have these in place of
// their own, and are added to the others.
func withShapes(file string, others []bench.Pattern) ([]bench.Pattern, error) {
	given, err := profiles.LoadShapes(file)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(others)
	seen := map[string]bool{}
	for _, g := range given {
		at := func(t profiles.Text, err error) error {
			return fmt.Errorf("%s:%d:%d: %w", profiles.NameOf(file), t.Line, t.Column, err)
		}
		p, err := bench.Lookup(g.Pattern.Value)
		switch {
		case err != nil:
			return nil, at(g.Pattern, err)
		case !p.Fusion():
			return nil, at(g.Pattern, fmt.Errorf("%s is no fusion pattern", p.Name))
		case seen[p.Name]:
			return nil, at(g.Pattern, fmt.Errorf("%s has shapes already", p.Name))
		}
		seen[p.Name] = true
		var shapes []bench.Shape
		given := map[string]bool{}
		for _, text := range g.Shapes {
			s, err := bench.ParseShape(text.Value, p.Dims)
			if err != nil {
				return nil, at(text, fmt.Errorf("%s: %w", p.Name, err))
			}
			if _, err := p.Build(s, bench.Place{Threads: 1}); err != nil {
				return nil, at(text, err)
			}
			if given[s.String()] {
				return nil, at(text, fmt.Errorf("%s: shape %q is given twice", p.Name, text.Value))
			}
			given[s.String()], shapes = true, append(shapes, s)
		}
		p.Shapes, p.Own = func(schema.Mode) []bench.Shape { return shapes }, true
		if i := slices.IndexFunc(all, func(o bench.Pattern) bool { return o.Name == p.Name }); i >= 0 {
			all[i] = p
		} else {
			all = append(all, p)
		}
	}
	return all, nil
}
