//go:build linux

package main

import "testing"

func TestSKXOf(t *testing.T) {
	for _, c := range []struct {
		what  string
		names []string
		id    int
		found bool
	}{
		{"of 0.9", []string{"skx", "knl", "knc", "haswell", "zen3", "zen", "generic"}, 0, true},
		{"with an error first", []string{"error", "skx", "haswell", "zen3", "generic"}, 1, true},
		{"AMD's", []string{"error", "skx", "knl", "haswell", "zen5", "zen4", "zen3", "generic"}, 0, false},
		{"without x86", []string{"thunderx2", "generic", "skx"}, 0, false},
	} {
		name := func(id int) string {
			if id < len(c.names) {
				return c.names[id]
			}
			return "skx"
		}
		if id, found := skxOf(name); id != c.id || found != c.found {
			t.Errorf("%s: %d, %t; want %d, %t", c.what, id, found, c.id, c.found)
		}
	}
}
