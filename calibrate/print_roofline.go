package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"hwcal/profiles"
	"hwcal/schema"
)

// Size of the roofline in characters: of all of it across, and of the chart down.
const rooflineWidth, rooflineRows = 72, 18

// roofline draws the ceilings of the main dtype and what operations and fused kernels reach
// under them with all threads; `calibrate roofline` draws the rest.
func (p *page) roofline(d *schema.Device) {
	threads, err := rooflineThreads(d, 0)
	if err != nil {
		return
	}
	dtypes := profiles.RooflineDTypes(d, threads)
	if len(dtypes) == 0 {
		return
	}
	main := schema.MainDType(d.Kind, dtypes)
	r := profiles.NewRoofline(d, threads, []schema.DType{main})
	if len(r.Peaks) == 0 || len(r.Slopes) == 0 {
		return
	}
	r.Points = slices.DeleteFunc(r.Points, func(q profiles.RooflinePoint) bool { return q.Number == 0 })
	for i := range r.Points {
		r.Points[i].UnfusedGFLOPS = 0
	}

	peak := r.Peaks[0]
	p.heading("Roofline %s %s: GFLOPS over FLOP/byte, best samples, largest shapes", main, onThreadCount(threads))
	t := newTextChart(&r, min(rooflineWidth, p.width))
	t.ceilings(&r)
	key := t.points(&r)
	t.names(&r)
	p.WriteString(t.String())
	var slopes []string
	for _, s := range r.Slopes {
		slopes = append(slopes, fmt.Sprintf("%s %s (%s)", s.Level, figure(s.GBps), figure(s.Ridge(peak))))
	}
	p.item("peak %s %s; slopes in GB/s (ridge point in FLOP/byte): %s", figure(peak.GFLOPS), main.RateUnit(), strings.Join(slopes, ", "))
	for l := range strings.SplitSeq(wrap(strings.Join(key, "; "), p.width-1), "\n") {
		p.WriteString(strings.TrimRight(" "+l, " ") + "\n")
	}
}

// textChart is a chart of characters on logarithmic axes, its first row on top.
type textChart struct {
	x, y  extent
	cells [][]rune
}

// gutter is the width of the labels of the y axis.
const gutter = 9

func newTextChart(r *profiles.Roofline, width int) *textChart {
	t := &textChart{}
	t.x, t.y = extents(r)
	for range rooflineRows {
		t.cells = append(t.cells, []rune(strings.Repeat(" ", width-gutter)))
	}
	return t
}

// column and row of decimal logarithms; they may lie outside.
func (t *textChart) column(x float64) int {
	return int(math.Round((x - t.x.low) / (t.x.high - t.x.low) * float64(len(t.cells[0])-1)))
}

func (t *textChart) row(y float64) int {
	return len(t.cells) - 1 - int(math.Round((y-t.y.low)/(t.y.high-t.y.low)*float64(len(t.cells)-1)))
}

// at is the decimal logarithm in the middle of a column.
func (t *textChart) at(column int) float64 {
	return t.x.low + (t.x.high-t.x.low)*float64(column)/float64(len(t.cells[0])-1)
}

func (t *textChart) inside(row, column int) bool {
	return row >= 0 && row < len(t.cells) && column >= 0 && column < len(t.cells[0])
}

func (t *textChart) set(row, column int, c rune) {
	if t.inside(row, column) {
		t.cells[row][column] = c
	}
}

// ceilings draws the slopes, the peak from the first of them on, and the ridge points.
func (t *textChart) ceilings(r *profiles.Roofline) {
	peak := math.Log10(r.Peaks[0].GFLOPS)
	for i, s := range r.Slopes {
		rate := math.Log10(s.GBps)
		ridge := t.column(peak - rate)
		for c := range t.cells[0] {
			switch {
			case c < ridge:
				t.set(t.row(t.at(c)+rate), c, '/')
			case i == 0:
				t.set(t.row(peak), c, '─')
			}
		}
	}
	for _, s := range r.Slopes {
		t.set(t.row(peak), t.column(peak-math.Log10(s.GBps)), '+')
	}
}

// pointLetters mark what is reached; what shares a cell shares a letter.
const pointLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// points draws the points from the left, and returns what their letters stand for.
func (t *textChart) points(r *profiles.Roofline) (key []string) {
	sorted := slices.Clone(r.Points)
	slices.SortStableFunc(sorted, func(a, b profiles.RooflinePoint) int {
		return t.column(math.Log10(a.Intensity)) - t.column(math.Log10(b.Intensity))
	})
	letters, more := map[[2]int]int{}, 0
	for _, q := range sorted {
		row, column := t.row(math.Log10(q.GFLOPS)), t.column(math.Log10(q.Intensity))
		i, shared := letters[[2]int{row, column}]
		switch {
		case shared:
			key[i] += ", " + clean(q.Name)
		case len(key) < len(pointLetters):
			i = len(key)
			letters[[2]int{row, column}] = i
			key = append(key, fmt.Sprintf("%c %s", pointLetters[i], clean(q.Name)))
			t.set(row, column, rune(pointLetters[i]))
		default:
			more++
		}
	}
	if more > 0 {
		key = append(key, fmt.Sprintf("and %d more, which are not drawn", more))
	}
	return key
}

// names writes each level on its slope, where no point is.
func (t *textChart) names(r *profiles.Roofline) {
	for _, s := range r.Slopes {
		name, rate := []rune(s.Level), math.Log10(s.GBps)
		for c := range t.cells[0] {
			row := t.row(t.at(c) + rate)
			if t.free(row, c+1, len(name)) && t.inside(row, c) && t.cells[row][c] == '/' {
				copy(t.cells[row][c+1:], name)
				break
			}
		}
	}
}

// free says whether nothing but a slope or nothing stands in some cells.
func (t *textChart) free(row, column, n int) bool {
	if !t.inside(row, column) || !t.inside(row, column+n-1) {
		return false
	}
	return !slices.ContainsFunc(t.cells[row][column:column+n], func(c rune) bool { return c != '/' && c != ' ' })
}

// String is the chart with its axes.
func (t *textChart) String() string {
	labels := make([]string, len(t.cells))
	for _, tick := range decades(t.y) {
		whole := tick.Value == math.Trunc(tick.Value)
		if row := t.row(tick.Value); whole || t.y.high-t.y.low < 2 {
			labels[row] = tick.Label
		}
	}
	var b strings.Builder
	for i, cells := range t.cells {
		axis := "│"
		if labels[i] != "" {
			axis = "┤"
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%*s %s%s", gutter-2, labels[i], axis, string(cells)), " ") + "\n")
	}
	line, below := []rune(strings.Repeat("─", len(t.cells[0]))), strings.Repeat(" ", gutter)
	for _, tick := range octaves(t.x) {
		column := t.column(tick.Value)
		start := gutter + column - len(tick.Label)/2
		if used := utf8.RuneCountInString(below); start > used || used == gutter && start == used {
			below += strings.Repeat(" ", start-used) + tick.Label
			line[column] = '┬'
		}
	}
	return b.String() + strings.Repeat(" ", gutter-1) + "└" + string(line) + "\n" + below + "\n"
}
