package main

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// labels places text where it covers nothing that was placed before.
type labels struct {
	within vg.Rectangle
	taken  []vg.Rectangle
}

// take marks a place as one that no label may cover.
func (l *labels) take(r ...vg.Rectangle) { l.taken = append(l.taken, r...) }

// place takes the first of n candidates that is free, or of crowded ones that which covers least. A
// candidate is some rectangles: slanted text is a chain of them.
func (l *labels) place(n int, candidate func(int) []vg.Rectangle) int {
	best, _ := l.find(n, candidate)
	l.take(candidate(best)...)
	return best
}

// find says which place takes, and how much that covers.
func (l *labels) find(n int, candidate func(int) []vg.Rectangle) (best int, least vg.Length) {
	least = vg.Length(math.Inf(1))
	for i := 0; i < n && least > 0; i++ {
		covered := vg.Length(0)
		for _, r := range candidate(i) {
			covered += area(r) - overlap(r, l.within) // what lies outside is not seen
			for _, t := range l.taken {
				covered += overlap(r, t)
			}
		}
		if covered < least-1e-6 {
			best, least = i, covered
		}
	}
	return best, least
}

func area(r vg.Rectangle) vg.Length { return (r.Max.X - r.Min.X) * (r.Max.Y - r.Min.Y) }

// overlap is the area that two rectangles share.
func overlap(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// around is the rectangle of a width and height about its middle.
func around(at vg.Point, w, h vg.Length) vg.Rectangle {
	half := vg.Point{X: w / 2, Y: h / 2}
	return vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}
}

func length(p vg.Point) vg.Length { return vg.Length(math.Hypot(float64(p.X), float64(p.Y))) }

// chain covers what begins at a point and runs at an angle: a line, or text of a height about it.
func chain(from vg.Point, w, h vg.Length, angle float64) []vg.Rectangle {
	n := max(1, int(math.Ceil(float64(w/h))))
	step := vg.Point{X: w / vg.Length(n) * vg.Length(math.Cos(angle)), Y: w / vg.Length(n) * vg.Length(math.Sin(angle))}
	all := make([]vg.Rectangle, n)
	for i := range all {
		all[i] = around(from.Add(step.Scale(vg.Length(i)+0.5)), h, h)
	}
	return all
}
