package profiles

// comparedPair chooses from the figures of one key on both sides the pair to
// compare: the best of the working sets that both have, because a rate on 32 KiB
// tells nothing about one on 16 KiB at the edge of a cache. Working sets without
// a warning on either side come first; only where no working set is common is
// the best of the level compared.
func comparedPair(old, new []figure) (figure, figure) {
	a, b := quiet(old), quiet(new)
	for _, pair := range [][2][]figure{
		{onSetsOf(a, b), onSetsOf(b, a)},
		{onSetsOf(old, new), onSetsOf(new, old)},
		{a, b},
	} {
		if len(pair[0]) > 0 && len(pair[1]) > 0 {
			return bestFigure(pair[0]), bestFigure(pair[1])
		}
	}
	return bestFigure(old), bestFigure(new)
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

// onSetsOf are the figures on a working set that others have too.
func onSetsOf(all, others []figure) []figure {
	has := make(map[int64]bool, len(others))
	for _, f := range others {
		has[f.workingSet] = true
	}
	var kept []figure
	for _, f := range all {
		if has[f.workingSet] {
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
