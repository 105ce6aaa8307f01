package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlips(t *testing.T) {
	verdicts := map[rune]Verdict{'f': Fuse, 'n': Neutral, 'a': Avoid, '?': Inconclusive}
	for _, c := range []struct {
		points string
		want   []CrossoverFlip
	}{
		{"", []CrossoverFlip{}},
		{"ff", []CrossoverFlip{}},
		{"??", []CrossoverFlip{}},
		{"?f?", []CrossoverFlip{}},
		{"f?f", []CrossoverFlip{}},
		{"fn", []CrossoverFlip{{0, 1, Fuse, Neutral}}},
		{"f??n", []CrossoverFlip{{0, 3, Fuse, Neutral}}},
		{"?ffnnfa", []CrossoverFlip{{2, 3, Fuse, Neutral}, {4, 5, Neutral, Fuse}, {5, 6, Fuse, Avoid}}},
	} {
		var points []CrossoverPoint
		for _, v := range c.points {
			points = append(points, CrossoverPoint{Verdict: verdicts[v]})
		}
		if diff := cmp.Diff(c.want, Flips(points)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.points, diff)
		}
	}
}
