package schema

import (
	"math"
	"testing"
)

func TestVerdictOf(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   Verdict
	}{
		{1.5, 1.6, Fuse},
		{1.02, 1.02, Fuse},
		{math.Nextafter(1.02, 0), 1.5, Inconclusive},
		{0.99, 1.01, Neutral},
		{1, 1, Neutral},
		{1 / 1.02, 1.02, Neutral},
		{0.5, 1 / 1.02, Avoid},
		{0.5, math.Nextafter(1/1.02, 1), Inconclusive},
		{0.9, 1.1, Inconclusive},
		{0.99, 1.03, Inconclusive},
		{1.6, 1.5, Inconclusive},
		{0, 0.5, Inconclusive},
		{-2, -1, Inconclusive},
		{math.NaN(), 2, Inconclusive},
		{2, math.NaN(), Inconclusive},
		{2, math.Inf(1), Fuse},
	} {
		if got := VerdictOf(c.lo, c.hi); got != c.want {
			t.Errorf("VerdictOf(%v, %v) = %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}
