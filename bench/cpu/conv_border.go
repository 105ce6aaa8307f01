package cpu

import "math/bits"

// tapPixels are the pixels of a panel that a tap is computed for: count of them from first
// on. The others lie in the padding; one between two that do not is computed on a zero.
type tapPixels struct {
	first, count int
	mask         int // has a bit for each that is not padding
	before       int // counts of the taps before it
}

// sharedTaps are taps in a row that are computed for the same pixels of a panel.
type sharedTaps struct {
	tapPixels // of the first of them
	tap, taps int
}

// panel is how many pixels, up to mr, are computed together. Where there is padding they are
// whole rows of an image, or equal parts of one, if it can be cut so: then many of them
// lack the same taps.
func (s convShape) panel(mr int) (pixels int, inRows bool) {
	all, q := s.p()*s.q(), s.q()
	cuts := ceilDiv(q, mr)
	if s.pad == 0 || q%cuts != 0 {
		return even(all, mr, 1), false
	}
	part := q / cuts
	return min(mr/part*part, all), true
}

// pixelsOf finds what each tap in the order of the steps is computed for, in the panel of
// n output pixels from j on.
func (s convShape) pixelsOf(st convSteps, j, n int) []tapPixels {
	var all []tapPixels
	before := 0
	for _, tap := range st.order {
		p := tapPixels{before: before}
		if mask := s.mask(j, n, tap); mask != 0 {
			p.first = bits.TrailingZeros(uint(mask))
			p.count = bits.Len(uint(mask)) - p.first
			p.mask = mask >> p.first
		}
		before += p.count
		all = append(all, p)
	}
	return all
}

// shareTaps merges consecutive taps of the same pixels, and drops those that lie in the
// padding. The epilogue is done with the last run, which therefore has all n pixels: if
// none of the taps has, a run without taps is added.
func shareTaps(all []tapPixels, n int) []sharedTaps {
	var runs []sharedTaps
	for tap, p := range all {
		if p.count == 0 {
			continue
		}
		if len(runs) > 0 {
			last := &runs[len(runs)-1]
			if last.tap+last.taps == tap && last.first == p.first && last.count == p.count {
				last.taps++
				continue
			}
		}
		runs = append(runs, sharedTaps{p, tap, 1})
	}
	if len(runs) == 0 || runs[len(runs)-1].count < n {
		runs = append(runs, sharedTaps{tapPixels: tapPixels{count: n}})
	}
	return runs
}

// outsideIn is the order of taps column by column of the filter, from the outermost to the
// innermost. Taps that lie in the padding for the same pixels then follow each other, and
// those that do so for the fewest pixels are last.
func outsideIn(r, s int) []int {
	var order []int
	for _, x := range inward(s) {
		for _, y := range inward(r) {
			order = append(order, y*s+x)
		}
	}
	return order
}

// inward is 0, n-1, 1, n-2, ...
func inward(n int) []int {
	var order []int
	for i := range n {
		if i%2 == 0 {
			order = append(order, i/2)
		} else {
			order = append(order, n-1-i/2)
		}
	}
	return order
}
