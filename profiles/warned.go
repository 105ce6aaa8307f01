package profiles

import (
	"slices"
	"strings"

	"hwcal/schema"
)

// warningIndex answers where the profile's warnings point. A hostile profile
// has as many warnings as entries, so asking must not walk them all.
type warningIndex struct {
	at    map[warningKey]bool // a warning points here
	below map[warningKey]bool // or to something below
}

type warningKey struct {
	code schema.Code
	path string
}

// deepest is how many tokens of a path are indexed; no entry lies deeper.
const deepest = 8

func indexWarnings(p *schema.Profile) warningIndex {
	ix := warningIndex{map[warningKey]bool{}, map[warningKey]bool{}}
	for _, w := range p.Warnings {
		ix.at[warningKey{w.Code, w.Path}] = true
		ix.below[warningKey{w.Code, w.Path}] = true
		tokens := 0
		for i := 1; i < len(w.Path) && tokens < deepest; i++ {
			if w.Path[i] == '/' {
				ix.below[warningKey{w.Code, w.Path[:i]}] = true
				tokens++
			}
		}
	}
	return ix
}

// warned says whether an entry carries one of the codes, in its own list or by
// a warning of the profile that points at it or into it.
func (c *checker) warned(path string, own []schema.Code, codes ...schema.Code) bool {
	return slices.ContainsFunc(codes, func(code schema.Code) bool {
		return slices.Contains(own, code) || c.warnings.below[warningKey{code, path}]
	})
}

// noisy says whether the machine was disturbed while the entry was measured;
// here a warning about the whole profile, device or list counts as well.
func (c *checker) noisy(path string, own []schema.Code) bool {
	noise := []schema.Code{schema.NoisyHost, schema.Throttled, schema.ClockUnsettled, schema.WorkersApart, schema.DeviceShared, schema.MemoryErrors}
	if c.warned(path, own, noise...) {
		return true
	}
	for path != "" {
		path = path[:strings.LastIndexByte(path, '/')]
		for _, code := range noise {
			if c.warnings.at[warningKey{code, path}] {
				return true
			}
		}
	}
	return false
}
