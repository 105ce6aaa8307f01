package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hwcal/profiles"
	"hwcal/schema"
)

// rooflineChart draws the ceilings and the points. Its coordinates are decimal logarithms, which
// hold whatever a profile says.
type rooflineChart struct {
	profiles.Roofline
	sheet *sheet
}

// extent is a range of decimal logarithms.
type extent struct{ low, high float64 }

// include widens the extent to values, and room around them.
func (e *extent) include(room float64, values ...float64) {
	for _, v := range values {
		e.low, e.high = min(e.low, math.Log10(v)-room), max(e.high, math.Log10(v)+room)
	}
}

// has says whether a value lies within the extent.
func (e extent) has(v float64) bool { return e.low <= math.Log10(v) && math.Log10(v) <= e.high }

// extents are those of arithmetic intensity and GFLOPS: of all numbered points and ridges, and a
// part of each slope. What a call of some bytes reaches is thousands of times less, and would leave
// the rest a corner of the picture.
func extents(r *profiles.Roofline) (x, y extent) {
	x, y = extent{math.Inf(1), math.Inf(-1)}, extent{math.Inf(1), math.Inf(-1)}
	for _, p := range r.Points {
		if p.Number == 0 {
			continue
		}
		x.include(0.15, p.Intensity)
		y.include(0.15, p.GFLOPS)
		if p.UnfusedGFLOPS > 0 {
			x.include(0.15, p.UnfusedIntensity)
			y.include(0.15, p.UnfusedGFLOPS)
		}
	}
	for _, p := range r.Peaks {
		y.include(0.25, p.GFLOPS)
		for _, s := range r.Slopes {
			x.include(0.45, s.Ridge(p))
		}
	}
	if len(r.Slopes) == 0 || len(r.Peaks) == 0 {
		x.include(1, 1)
	}
	for _, s := range r.Slopes {
		y.low = min(y.low, x.low+math.Log10(s.GBps))
		if len(r.Peaks) == 0 {
			y.high = max(y.high, x.high+math.Log10(s.GBps))
		}
	}
	if len(r.Slopes) == 0 {
		y.low = min(y.low, y.high-1.5)
	}
	return x, y
}

// outside are the points of which the extents show nothing.
func outside(r *profiles.Roofline) []profiles.RooflinePoint {
	x, y := extents(r)
	return slices.DeleteFunc(slices.Clone(r.Points), func(p profiles.RooflinePoint) bool { return x.has(p.Intensity) && y.has(p.GFLOPS) })
}

// span is the part of a slope that is seen, from the left edge or the bottom to the highest peak.
func (r *rooflineChart) span(s profiles.RooflineSlope, x, y extent) extent {
	rate := math.Log10(s.GBps)
	to := min(x.high, y.high-rate)
	for i, p := range r.Peaks {
		if ridge := math.Log10(p.GFLOPS) - rate; i == 0 || ridge > to {
			to = ridge
		}
	}
	return extent{max(x.low, y.low-rate), to}
}

// edge is where a peak begins: at the ridge point of the fastest level.
func (r *rooflineChart) edge(p profiles.RooflinePeak, x extent) float64 {
	from := math.Inf(1)
	for _, s := range r.Slopes {
		from = min(from, math.Log10(p.GFLOPS)-math.Log10(s.GBps))
	}
	if math.IsInf(from, 1) {
		return x.low
	}
	return from
}

// draw draws the chart into a part of the sheet.
func (r *rooflineChart) draw(into draw.Canvas) {
	p := plot.New()
	x, y := extents(&r.Roofline)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.low, x.high, y.low, y.high
	p.X.Label.Text = "arithmetic intensity, FLOP per byte of compulsory traffic"
	p.Y.Label.Text = rateOf(&r.Roofline)
	p.X.Tick.Marker, p.Y.Tick.Marker = octaves(x), decades(y)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding, axis.Label.Padding = 0, 2
		axis.LineStyle.Width, axis.Tick.LineStyle.Width = 0.5, 0.5
		axis.Label.TextStyle.Font = r.sheet.font(7.5, false)
		axis.Tick.Label.Font = r.sheet.font(7, false)
	}
	p.Add(r)
	p.Draw(into)
}

// rateOf is the unit of the rates.
func rateOf(r *profiles.Roofline) string {
	if slices.ContainsFunc(r.Peaks, func(p profiles.RooflinePeak) bool { return p.DType == schema.INT8 }) {
		return "GFLOPS, of int8 GOPS"
	}
	return "GFLOPS"
}

// octaves are the powers of two of an extent, so many that their labels fit.
func octaves(e extent) plot.ConstantTicks {
	const most = 20
	step := math.Ceil((e.high - e.low) / math.Log10(2) / most)
	var ticks plot.ConstantTicks
	for n := math.Ceil(e.low / math.Log10(2) / step); n*step*math.Log10(2) <= e.high; n++ {
		ticks = append(ticks, plot.Tick{Value: n * step * math.Log10(2), Label: powerOfTwo(int(n * step))})
	}
	return ticks
}

// powerOfTwo reads 1/4, 32.
func powerOfTwo(n int) string {
	switch {
	case n < -10 || n > 20:
		return "2^" + strconv.Itoa(n)
	case n < 0:
		return "1/" + strconv.Itoa(1<<-n)
	}
	return strconv.Itoa(1 << n)
}

// decades are 1, 2 and 5 times the powers of ten of an extent, of long ones powers of ten
// alone.
func decades(e extent) plot.ConstantTicks {
	multiples, step := []int{1, 2, 5}, 1.0
	if wide := e.high - e.low; wide > 6 {
		multiples, step = multiples[:1], math.Ceil(wide/20)
	}
	var ticks plot.ConstantTicks
	for n := math.Floor(e.low / step); n*step <= e.high; n++ {
		for _, m := range multiples {
			if at := n*step + math.Log10(float64(m)); at >= e.low && at <= e.high {
				value, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", m, int(n*step)), 64) // nearer than a product
				ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(value, 'g', -1, 64)})
			}
		}
	}
	return ticks
}

var (
	black  = color.RGBA{A: 255}
	grey   = color.RGBA{110, 110, 110, 255}
	faint  = color.RGBA{230, 230, 230, 255}
	white  = color.RGBA{255, 255, 255, 255}
	thin   = draw.LineStyle{Color: grey, Width: 0.4}
	strong = draw.LineStyle{Color: black, Width: 1}
)

// Plot implements plot.Plotter.
func (r *rooflineChart) Plot(c draw.Canvas, p *plot.Plot) {
	fx, fy := p.Transforms(&c)
	at := func(x, y float64) vg.Point { return vg.Point{X: fx(x), Y: fy(y)} }
	of := func(intensity, gflops float64) vg.Point { return at(math.Log10(intensity), math.Log10(gflops)) }
	x, y := extent{p.X.Min, p.X.Max}, extent{p.Y.Min, p.Y.Max}

	grid := draw.LineStyle{Color: faint, Width: 0.4}
	for _, t := range p.X.Tick.Marker.Ticks(x.low, x.high) {
		c.StrokeLine2(grid, fx(t.Value), c.Min.Y, fx(t.Value), c.Max.Y)
	}
	for _, t := range p.Y.Tick.Marker.Ticks(y.low, y.high) {
		c.StrokeLine2(grid, c.Min.X, fy(t.Value), c.Max.X, fy(t.Value))
	}

	// The ceilings.
	place := labels{within: c.Rectangle}
	ceiling := func(from, to vg.Point) {
		c.StrokeLines(strong, []vg.Point{from, to})
		along := to.Sub(from)
		place.take(chain(from, length(along), 3, math.Atan2(float64(along.Y), float64(along.X)))...)
	}
	for _, s := range r.Slopes {
		span, rate := r.span(s, x, y), math.Log10(s.GBps)
		ceiling(at(span.low, span.low+rate), at(span.high, span.high+rate))
	}
	for _, peak := range r.Peaks {
		rate := math.Log10(peak.GFLOPS)
		ceiling(at(r.edge(peak, x), rate), at(x.high, rate))
		for _, s := range r.Slopes {
			r.sheet.glyph(c, at(rate-math.Log10(s.GBps), rate), ridgeMark, 2.2, false)
		}
	}

	// The points, the numbered ones above the others.
	for _, q := range r.Points {
		if q.Number == 0 && x.has(q.Intensity) && y.has(q.GFLOPS) {
			at := of(q.Intensity, q.GFLOPS)
			r.sheet.glyph(c, at, markOf(q.Group), smallMark, false)
			place.take(around(at, smallMark*2, smallMark*2))
		}
	}
	for _, q := range r.Points {
		if q.Number > 0 && q.UnfusedGFLOPS > 0 {
			from, to := of(q.UnfusedIntensity, q.UnfusedGFLOPS), of(q.Intensity, q.GFLOPS)
			c.StrokeLines(draw.LineStyle{Color: markOf(q.Group).color, Width: 0.4}, []vg.Point{from, to})
			r.sheet.glyph(c, from, markOf(q.Group), largeMark, true)
			place.take(around(from, largeMark*2, largeMark*2))
		}
	}
	for _, q := range r.Points {
		if q.Number > 0 {
			to := of(q.Intensity, q.GFLOPS)
			r.sheet.glyph(c, to, markOf(q.Group), largeMark, false)
			place.take(around(to, largeMark*2, largeMark*2))
		}
	}

	r.labelCeilings(c, &place, at, x, y)
	for _, q := range r.Points {
		if q.Number > 0 {
			r.labelPoint(c, &place, of(q.Intensity, q.GFLOPS), strconv.Itoa(q.Number))
		}
	}
}

// Radii of the marks.
const largeMark, smallMark vg.Length = 2.6, 1.1

// labelCeilings names every ceiling along its line, and the ridge points of the memory, which is
// the last level, on theirs, if there is room: the table below has them all.
func (r *rooflineChart) labelCeilings(c draw.Canvas, place *labels, at func(x, y float64) vg.Point, x, y extent) {
	const size, gap vg.Length = 6.8, 3
	unit := at(1, 1).Sub(at(0, 0))
	angle := math.Atan2(float64(unit.Y), float64(unit.X))
	for _, s := range r.Slopes {
		text := string(s.Level) + " " + figure(s.GBps) + " GB/s (" + clean(s.Pattern) + ")"
		style := r.sheet.style(size, true, black)
		w, h := style.Width(text), size
		span, rate := r.span(s, x, y), math.Log10(s.GBps)
		begin, end := at(span.low, span.low+rate), at(span.high, span.high+rate)
		const n = 24
		// Along the line from its lower end, above it and then below.
		center := func(i int) vg.Point {
			along := 4 + max(0, length(end.Sub(begin))-w-8)*vg.Length(i%n)/n
			off := gap + h/2
			if i >= n {
				off = -off
			}
			cos, sin := vg.Length(math.Cos(angle)), vg.Length(math.Sin(angle))
			return vg.Point{X: begin.X + along*cos - off*sin, Y: begin.Y + along*sin + off*cos}
		}
		i := place.place(2*n, func(i int) []vg.Rectangle { return chain(center(i), w, h+2, angle) })
		style.Rotation, style.YAlign = angle, draw.YCenter
		c.FillText(style, center(i), text)
	}
	for _, peak := range r.Peaks {
		text := string(peak.DType) + " peak " + figure(peak.GFLOPS) + " " + peak.DType.RateUnit()
		style := r.sheet.style(size, true, black)
		w, h := style.Width(text), size
		line := at(x.high, math.Log10(peak.GFLOPS))
		const n = 24
		// Along the line from its right end, above it and then below.
		center := func(i int) vg.Point {
			p := vg.Point{X: line.X - w/2 - 3 - vg.Length(i%n)*8, Y: line.Y + gap + h/2}
			if i >= n {
				p.Y = line.Y - gap - h/2
			}
			return p
		}
		i := place.place(2*n, func(i int) []vg.Rectangle { return []vg.Rectangle{around(center(i), w, h)} })
		r.sheet.centered(c, center(i), style, text)
	}
	if len(r.Slopes) == 0 {
		return
	}
	memory := r.Slopes[len(r.Slopes)-1]
	for _, peak := range r.Peaks {
		text := figure(memory.Ridge(peak)) + " FLOP/byte"
		style := r.sheet.style(5.8, false, black)
		w, h := style.Width(text)+1, style.Font.Size
		rate := math.Log10(peak.GFLOPS)
		point := at(rate-math.Log10(memory.GBps), rate)
		// Right of the slope below the peak, or above the peak; where it is crowded farther away along the peak.
		spots := []vg.Point{point.Add(vg.Point{X: w/2 + 4, Y: -h/2 - 2})}
		for _, along := range []vg.Length{-w / 2, w / 2, 0, -3 * w / 4, 3 * w / 4, -w, w} {
			spots = append(spots, point.Add(vg.Point{X: along, Y: h/2 + 2.5}))
		}
		i, covered := place.find(len(spots), func(i int) []vg.Rectangle { return []vg.Rectangle{around(spots[i], w, h)} })
		if covered > w*h/2 {
			continue
		}
		place.take(around(spots[i], w, h))
		c.FillPolygon(white, corners(around(spots[i], w, h)))
		r.sheet.centered(c, spots[i], style, text)
	}
}

// ring are the points at some angles of an ellipse.
func ring(center vg.Point, rx, ry vg.Length, angles []float64) []vg.Point {
	all := make([]vg.Point, len(angles))
	for i, a := range angles {
		all[i] = center.Add(vg.Point{X: rx * vg.Length(math.Cos(a)), Y: ry * vg.Length(math.Sin(a))})
	}
	return all
}

// labelPoint puts a number beside its point, or where it is crowded farther away at the end of a
// line.
func (r *rooflineChart) labelPoint(c draw.Canvas, place *labels, point vg.Point, text string) {
	const size vg.Length = 6
	style := r.sheet.style(size, false, black)
	w, h := style.Width(text)+1, size
	var angles []float64
	for i := range 16 {
		angles = append(angles, math.Pi/4+float64(i)*math.Pi/8)
	}
	var spots []vg.Point
	for _, away := range []vg.Length{1.5, 4, 8, 13, 19, 26, 34} {
		spots = append(spots, ring(point, largeMark+away+w/2, largeMark+away+h/2, angles)...)
	}
	i := place.place(len(spots), func(i int) []vg.Rectangle { return []vg.Rectangle{around(spots[i], w, h)} })
	if i >= 2*len(angles) {
		c.StrokeLines(thin, []vg.Point{point, spots[i]})
	}
	c.FillPolygon(white, corners(around(spots[i], w, h)))
	r.sheet.centered(c, spots[i], style, text)
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
