package profiles

// comparedPair chooses from the figures of one key on both sides the pair to compare, the best of each.
//
// Those of a level are of the working sets that both have, because a rate on 32 KiB tells nothing about one on
// 16 KiB at the edge of a cache; only where none is common is the best of the level compared. Those of an operation
// may be of another kernel, which an other version or instruction set brings.
//
// What a warning speaks against is left out on both sides, and then only what both have is compared: the next best of
// one side says nothing about the best of the other. If nothing is quiet on both, the pair is noisy, whichever
// it is.
func comparedPair(old, new []figure) (figure, figure) {
	a, b := quiet(old), quiet(new)
	disturbed := len(a) < len(old) || len(b) < len(new)
	if !disturbed && old[0].workingSet == 0 {
		return bestFigure(old), bestFigure(new)
	}
	if a, b = common(a, b), common(b, a); len(a) > 0 {
		return bestFigure(a), bestFigure(b)
	}
	if a, b = common(old, new), common(new, old); len(a) == 0 {
		a, b = old, new
	}
	before, after := bestFigure(a), bestFigure(b)
	before.noisy = before.noisy || disturbed
	return before, after
}

// quiet are the figures that no warning speaks against.
func quiet(all []figure) []figure {
	var kept []figure
	for _, f := range all {
		if !f.noisy {
			kept = append(kept, f)
		}
	}
	return kept
}

// common are the figures of a working set and kernel that others have too.
func common(all, others []figure) []figure {
	has := make(map[variant]bool, len(others))
	for _, f := range others {
		has[f.variant] = true
	}
	var kept []figure
	for _, f := range all {
		if has[f.variant] {
			kept = append(kept, f)
		}
	}
	return kept
}

// bestFigure of one at least; the first of equals.
func bestFigure(all []figure) figure {
	best := all[0]
	for _, f := range all[1:] {
		if f.lowerIsBetter && f.best < best.best || !f.lowerIsBetter && f.best > best.best {
			best = f
		}
	}
	return best
}
