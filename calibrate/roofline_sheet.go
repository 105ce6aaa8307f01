package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"hwcal/profiles"
	"hwcal/schema"
)

// Measures of the sheet, to be printed on A4 or Letter as they are, in points.
const (
	sheetWidth  vg.Length = 580
	sheetMargin vg.Length = 14
	chartHeight vg.Length = 400
	rowHeight   vg.Length = 8
	tableSize   vg.Length = 6
	leastSize   vg.Length = 5 // of a table that does not fit
)

// pngDPI is fine enough for the small print on paper.
const pngDPI = 200

// mostNumbers is how many points a picture numbers: more are no picture any more.
const mostNumbers = 500

// sheet is the page that a picture is drawn on.
type sheet struct{ draw.Canvas }

// mark is how the points of a group look: a regular polygon of a color.
type mark struct {
	sides  int
	turned bool // stands on a corner
	color  color.Color
}

// marks of the groups differ in shape and, for people who tell few colors apart too, in color:
// those of Okabe and Ito.
var marks = map[string]mark{
	profiles.GroupMatmul:    {32, false, color.RGBA{0, 114, 178, 255}},
	profiles.GroupOperation: {4, false, color.RGBA{230, 159, 0, 255}},
	"linear":                {3, false, color.RGBA{0, 158, 115, 255}},
	"conv":                  {4, true, color.RGBA{204, 121, 167, 255}},
	"attention":             {3, true, color.RGBA{213, 94, 0, 255}},
	"elementwise":           {5, false, color.RGBA{86, 180, 233, 255}},
}

var ridgeMark = mark{4, true, black}

// markOf has a mark for groups of later versions too.
func markOf(group string) mark {
	if m, known := marks[group]; known {
		return m
	}
	return mark{5, false, grey}
}

// drawRoofline is the picture of a roofline: the chart, its ceilings as figures, and what the
// numbers of the points mean.
func drawRoofline(p *schema.Profile, d *schema.Device, r profiles.Roofline, format string) ([]byte, error) {
	ceilings, points := ceilingTable(&r), pointTable(&r)
	if n := len(points.rows); n > mostNumbers {
		return nil, fmt.Errorf("%s: %d operations and dtypes, at most %d fit a picture; choose with --dtype", clean(d.ID), n, mostNumbers)
	}
	notes := rooflineNotes(&r)
	head := 2*sheetMargin + rowHeight
	height := head + chartHeight + rowHeight*vg.Length(4+len(notes)) + ceilings.height(1) + points.height(2) + sheetMargin
	s, encode := newSheet(sheetWidth, height, format)
	chart := &rooflineChart{r, s}

	s.FillPolygon(white, corners(s.Rectangle))
	left, y := sheetMargin, s.Max.Y-sheetMargin
	s.text(left, y, s.style(11, true, black), fmt.Sprintf("Roofline of %s on %s", clean(d.ID), clean(p.Metadata.HardwareName)))
	y -= rowHeight * 1.6
	s.text(left, y, s.style(7, false, grey), fmt.Sprintf("%s, %s mode of %s; best samples %s",
		clean(d.Name), p.Metadata.Mode, p.Metadata.CalibrationDate.UTC().Format("2006-01-02"), onThreadCount(r.Threads)))
	bottom := s.Max.Y - head - chartHeight
	chart.draw(draw.Crop(s.Canvas, left, -sheetMargin, bottom, -head))

	y = bottom - rowHeight
	s.legend(left, y, &r)
	for _, note := range notes {
		y -= rowHeight
		s.text(left, y, s.style(tableSize, false, grey), note)
	}
	y -= 2 * rowHeight
	s.table(left, y, ceilings, 1)
	y -= ceilings.height(1) + rowHeight
	s.table(left, y, points, 2)
	return encode()
}

// newSheet returns the sheet, and what makes a file of it.
func newSheet(w, h vg.Length, format string) (*sheet, func() ([]byte, error)) {
	var out bytes.Buffer
	if format == "png" {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}
		return &sheet{draw.New(c)}, func() ([]byte, error) {
			_, err := c.WriteTo(&out)
			return out.Bytes(), err
		}
	}
	c := vgsvg.New(w, h)
	return &sheet{draw.New(c)}, func() ([]byte, error) {
		_, err := c.WriteTo(&out)
		// Arial and Helvetica have the widths of Liberation Sans, where that is not installed.
		return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"),
			[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), err
	}
}

func (s *sheet) font(size vg.Length, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

func (s *sheet) style(size vg.Length, bold bool, ink color.Color) text.Style {
	return text.Style{Color: ink, Font: s.font(size, bold), Handler: plot.DefaultTextHandler}
}

// text writes a line from a point of its baseline, cut where the sheet ends.
func (s *sheet) text(x, y vg.Length, style text.Style, line string) {
	s.FillText(style, vg.Point{X: x, Y: y}, fitting(style, line, sheetWidth-sheetMargin-x))
}

// fitting cuts a text to a width.
func fitting(style text.Style, line string, width vg.Length) string {
	if style.Width(line) <= width {
		return line
	}
	runes := []rune(line)
	for len(runes) > 0 && style.Width(string(runes)+"...") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "..."
}

// centered writes digits and letters with their middle, as the eye sees it, at a point.
func (s *sheet) centered(c draw.Canvas, at vg.Point, style text.Style, line string) {
	style.XAlign = draw.XCenter
	c.FillText(style, vg.Point{X: at.X, Y: at.Y - style.Font.Size*0.35}, line)
}

// glyph draws a mark of a radius, filled or hollow.
func (s *sheet) glyph(c draw.Canvas, at vg.Point, m mark, radius vg.Length, hollow bool) {
	from := math.Pi / 2
	switch {
	case m.sides == 4 && !m.turned:
		from = math.Pi / 4
	case m.sides == 3 && m.turned:
		from = -math.Pi / 2
	}
	if m.sides < 6 {
		radius *= 1.2 // as large to the eye as a circle
	}
	angles := make([]float64, m.sides)
	for i := range angles {
		angles[i] = from + 2*math.Pi*float64(i)/float64(m.sides)
	}
	outline := ring(at, radius, radius, angles)
	if !hollow {
		c.FillPolygon(m.color, outline)
		return
	}
	c.FillPolygon(white, outline)
	c.StrokeLines(draw.LineStyle{Color: m.color, Width: 0.6}, append(outline, outline[0], outline[1]))
}

// legend names the marks in a line.
func (s *sheet) legend(x, y vg.Length, r *profiles.Roofline) {
	style := s.style(7, false, black)
	for _, group := range r.Groups() {
		s.glyph(s.Canvas, vg.Point{X: x + largeMark, Y: y + 2.4}, markOf(group), largeMark, false)
		x += 3 * largeMark
		name := fitting(style, clean(group), 80)
		s.FillText(style, vg.Point{X: x, Y: y}, name)
		x += style.Width(name) + 10
	}
	if len(r.Peaks) > 0 && len(r.Slopes) > 0 {
		s.glyph(s.Canvas, vg.Point{X: x + largeMark, Y: y + 2.4}, ridgeMark, 2.2, false)
		s.text(x+3*largeMark, y, style, "ridge point")
	}
}

// rooflineNotes say what the marks mean and what is not drawn.
func rooflineNotes(r *profiles.Roofline) []string {
	var notes []string
	marks := "Numbers: the largest shape of each operation and dtype, in the table; small marks: its other shapes."
	for _, p := range r.Points {
		if p.UnfusedGFLOPS > 0 {
			marks += " Hollow marks: what the same pair reaches unfused."
			break
		}
	}
	if len(r.Points) > 0 {
		notes = append(notes, marks)
	}
	if out := outside(r); len(out) > 0 {
		slowest := slices.MinFunc(out, func(a, b profiles.RooflinePoint) int { return cmp.Compare(a.GFLOPS, b.GFLOPS) })
		notes = append(notes, fmt.Sprintf("Outside of the picture: %d of the other shapes, the slowest %s %s at %s GFLOPS.",
			len(out), clean(slowest.Name), dims(slowest.Shape), figure(slowest.GFLOPS)))
	}
	if len(r.Unmeasured) > 0 {
		notes = append(notes, fmt.Sprintf("Not measured %s: the bandwidth of %s.", onThreadCount(r.Threads), join(r.Unmeasured, ", ")))
	}
	if len(r.WithoutFLOP) > 0 {
		notes = append(notes, "Without FLOP, and so not drawn: "+clean(strings.Join(r.WithoutFLOP, ", "))+".")
	}
	return notes
}

// sheetTable is a table in parts that stand side by side.
type sheetTable struct {
	header []string
	words  []bool // columns aligned to the left
	rows   [][]string
	groups []string // of the rows, whose marks stand before them; nil without
}

// height of the table if it stands in so many parts side by side.
func (t *sheetTable) height(parts int) vg.Length {
	if len(t.rows) == 0 {
		return 0
	}
	return rowHeight * vg.Length(1+(len(t.rows)+parts-1)/parts)
}

// ceilingTable has the peak of every dtype, and its ridge point with every level.
func ceilingTable(r *profiles.Roofline) *sheetTable {
	t := &sheetTable{header: []string{"ridge points, FLOP/byte", "GB/s"}, words: []bool{true, false}}
	peaks := []string{"peak, " + rateOf(r), ""}
	for _, p := range r.Peaks {
		t.header = append(t.header, string(p.DType))
		t.words = append(t.words, false)
		peaks = append(peaks, figure(p.GFLOPS))
	}
	if len(r.Peaks) > 0 && len(r.Slopes) > 0 {
		t.rows = append(t.rows, peaks)
	}
	for _, s := range r.Slopes {
		row := []string{fmt.Sprintf("%s (%s)", s.Level, clean(s.Pattern)), figure(s.GBps)}
		for _, p := range r.Peaks {
			row = append(row, figure(s.Ridge(p)))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// pointTable says what the numbers stand for.
func pointTable(r *profiles.Roofline) *sheetTable {
	t := &sheetTable{
		header: []string{"", "operation", "dtype", "shape", "FLOP/byte", "GFLOPS"},
		words:  []bool{false, true, true, true, false, false},
	}
	for _, p := range r.Points {
		if p.Number > 0 {
			t.rows = append(t.rows, []string{strconv.Itoa(p.Number), clean(p.Name), string(p.DType), dims(p.Shape), figure(p.Intensity), figure(p.GFLOPS)})
			t.groups = append(t.groups, p.Group)
		}
	}
	return t
}

// columns are the widths of the columns in a part, and the size of the letters: smaller ones where the columns do not
// fit. The widest one of words is cut if they do not fit then.
func (s *sheet) columns(t *sheetTable, part vg.Length) (widths []vg.Length, size vg.Length) {
	for size = tableSize; ; size -= 0.25 {
		body, head := s.style(size, false, black), s.style(size, true, black)
		widths = make([]vg.Length, len(t.header))
		total, widest := vg.Length(0), 0
		for i, name := range t.header {
			widths[i] = head.Width(name)
			for _, row := range t.rows {
				widths[i] = max(widths[i], body.Width(row[i]))
			}
			total += widths[i] + columnGap
			if t.words[i] && (!t.words[widest] || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if total <= part || size <= leastSize {
			widths[widest] -= max(0, total-part)
			return widths, size
		}
	}
}

const columnGap vg.Length = 5

// table draws a table from the baseline of its header.
func (s *sheet) table(x, y vg.Length, t *sheetTable, parts int) {
	if len(t.rows) == 0 {
		return
	}
	indent := vg.Length(0)
	if t.groups != nil {
		indent = 3 * largeMark
	}
	part := (sheetWidth - 2*sheetMargin) / vg.Length(parts)
	widths, size := s.columns(t, part-indent)
	line := func(x, y vg.Length, bold bool, cells []string) {
		style := s.style(size, bold, black)
		for i, cell := range cells {
			style.XAlign = draw.XRight
			at := x + widths[i]
			if t.words[i] {
				style.XAlign, at = draw.XLeft, x
			}
			s.FillText(style, vg.Point{X: at, Y: y}, fitting(style, cell, widths[i]))
			x += widths[i] + columnGap
		}
	}
	each := (len(t.rows) + parts - 1) / parts
	for i, row := range t.rows {
		left := x + part*vg.Length(i/each)
		at := y - rowHeight*vg.Length(1+i%each)
		if i%each == 0 {
			line(left+indent, y, true, t.header)
		}
		if t.groups != nil {
			s.glyph(s.Canvas, vg.Point{X: left + largeMark, Y: at + 2}, markOf(t.groups[i]), 2.2, false)
		}
		line(left+indent, at, false, row)
	}
}
