package main

import (
	"fmt"
	"strings"

	"hwcal/bench"
	"hwcal/schema"
)

// patternCatalog lists fusion patterns or single operations.
type patternCatalog []bench.Pattern

type patternEntry struct {
	Name      string                    `json:"name"`
	Group     string                    `json:"group"`
	Doc       string                    `json:"doc"`
	Operators []string                  `json:"operators"`
	Dims      []string                  `json:"dims"`
	Shapes    map[schema.Mode][][]int64 `json:"shapes"`
}

var modes = []schema.Mode{schema.Quick, schema.Default, schema.Full}

func (c patternCatalog) list() []patternEntry {
	all := make([]patternEntry, len(c))
	for i, p := range c {
		e := patternEntry{
			Name: p.Name, Group: p.Group, Doc: p.Doc, Operators: chainOf(p).Names(), Dims: p.Dims,
			Shapes: map[schema.Mode][][]int64{},
		}
		for _, m := range modes {
			for _, s := range p.Shapes(m) {
				e.Shapes[m] = append(e.Shapes[m], s.Values())
			}
		}
		all[i] = e
	}
	return all
}

func (c patternCatalog) entries() any { return c.list() }

func (c patternCatalog) print(p *page) {
	group := ""
	for i, e := range c.list() {
		if e.Group != group {
			if group != "" {
				p.WriteByte('\n')
			}
			group = e.Group
			p.line("%s", group)
		}
		g := newFacts()
		operations := strings.Join(e.Operators, " + ")
		if c[i].Network() {
			operations = fmt.Sprintf("%d operations", len(e.Operators))
		}
		text := lines{e.Doc, operations + " over " + strings.Join(e.Dims, " x ")}
		before := ""
		for _, m := range modes {
			shapes := make([]string, len(e.Shapes[m]))
			for i, s := range e.Shapes[m] {
				shapes[i] = dims(s)
			}
			if now := strings.Join(shapes, ", "); now != before { // a mode that adds none goes without saying
				text = append(text, string(m)+": "+now)
				before = now
			}
		}
		g.row(padded(e.Name), text)
		p.grid(g)
	}
}

// padded lines the names of separate tables up.
func padded(name string) string { return name + strings.Repeat(" ", max(0, 22-len(name))) }

// chainOf is the chain of a pattern on its first shape.
func chainOf(p bench.Pattern) bench.Chain {
	chain, err := p.Build(p.Shapes(schema.Full)[0], bench.Place{Threads: 1})
	if err != nil {
		panic(err) // a shape of our own
	}
	return chain
}
