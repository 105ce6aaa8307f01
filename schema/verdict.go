package schema

// VerdictFactor is how far the speedup must be from 1 for fusing to matter:
// theta = ln 1.02, below which two runs of the same code differ by chance.
const VerdictFactor = 1.02

// LeastBlocks is the first look of the stopping rule: with fewer blocks no interval reaches the confidence, so that
// nothing is decided.
const LeastBlocks = 10

// VerdictOf decides on the interval [lo, hi] of the speedup, the ratio of the
// unfused to the fused time (not its logarithm). The measuring side and
// validation share it, so that a verdict always follows from the figures
// published with it. An interval that is none (NaN, lo > hi, lo <= 0) decides
// nothing.
func VerdictOf(lo, hi float64) Verdict {
	switch {
	case !(0 < lo && lo <= hi):
		return Inconclusive
	case lo >= VerdictFactor:
		return Fuse
	case hi <= 1/VerdictFactor:
		return Avoid
	case lo >= 1/VerdictFactor && hi <= VerdictFactor:
		return Neutral
	}
	return Inconclusive
}

// Because puts a verdict before its reason.
func (v Verdict) Because(why string) string { return string(v) + ": " + why }
