package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// widest is the width of the output in columns, where no terminal is narrower.
const widest = 120

// longest is the number of characters of a cell: a profile may come from
// anywhere and hold anything.
const longest = 600

// page collects what is printed for a person. It goes out at once at the end, so
// that a failed write is seen.
type page struct {
	bytes.Buffer
	width int
}

func newPage(w io.Writer) *page {
	p := &page{width: widest}
	if out, ok := w.(*checked); ok {
		w = out.Writer
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.width = min(max(columns, 60), widest)
		}
	}
	return p
}

// beside is how many columns stand side by side, of so many on the widest page.
func (p *page) beside(most int) int { return max(1, most*p.width/widest) }

// line prints text, wrapped.
func (p *page) line(format string, args ...any) {
	p.WriteString(wrap(clean(fmt.Sprintf(format, args...)), p.width) + "\n")
}

// item prints an entry of a list, its further lines indented.
func (p *page) item(format string, args ...any) {
	s := wrap(clean(fmt.Sprintf(format, args...)), p.width-3)
	p.WriteString(" " + strings.ReplaceAll(s, "\n", "\n   ") + "\n")
}

// heading begins a section.
func (p *page) heading(format string, args ...any) {
	p.WriteByte('\n')
	p.line(format, args...)
}

// column is the name and the alignment of a column.
type column struct {
	name    string
	numbers bool // aligned to the right
}

func words(name string) column   { return column{name, false} }
func numbers(name string) column { return column{name, true} }

// lines is a cell of several lines.
type lines []string

// grid is a table of cells, each a string or lines.
type grid struct {
	columns []column
	groups  []string // an optional row above the header that names groups of columns
	rows    []table.Row
}

func newGrid(columns ...column) *grid { return &grid{columns: columns} }

// newFacts is a grid of names and values without a header.
func newFacts() *grid { return newGrid(words(""), words("")) }

func (g *grid) row(cells ...any) {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = cell(c)
	}
	g.rows = append(g.rows, r)
}

// fact adds a name and a value, unless the value is empty.
func (g *grid) fact(name, format string, args ...any) {
	if value := fmt.Sprintf(format, args...); value != "" {
		g.row(name, value)
	}
}

// dropEmpty leaves out the columns in which no row has anything.
func (g *grid) dropEmpty() {
	for i := len(g.columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(g.rows, func(r table.Row) bool { return r[i] != "" && r[i] != absent }) {
			continue
		}
		g.columns = slices.Delete(g.columns, i, i+1)
		if g.groups != nil {
			g.groups = slices.Delete(g.groups, i, i+1)
		}
		for j := range g.rows {
			g.rows[j] = slices.Delete(g.rows[j], i, i+1)
		}
	}
}

// grid prints the table, its widest columns of words wrapped where it does not
// fit.
func (p *page) grid(g *grid) {
	if len(g.rows) == 0 {
		return
	}
	t := table.NewWriter()
	t.SetStyle(plain)
	t.SuppressTrailingSpaces()
	header, headed := make(table.Row, len(g.columns)), false
	configs := make([]table.ColumnConfig, len(g.columns))
	for i, c := range g.columns {
		header[i], headed = c.name, headed || c.name != ""
		configs[i] = table.ColumnConfig{Number: i + 1, AlignHeader: text.AlignLeft, WidthMaxEnforcer: wrapName}
		if c.numbers {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	for i, width := range g.fit(p.width) {
		if width < g.width(i) {
			configs[i].WidthMax = width
		}
	}
	g.widen(configs)
	t.SetColumnConfigs(configs)
	if g.groups != nil {
		groups := make(table.Row, len(g.groups))
		for i, name := range g.groups {
			groups[i] = name
		}
		t.AppendHeader(groups, table.RowConfig{AutoMerge: true})
	}
	if headed {
		t.AppendHeader(header)
	}
	t.AppendRows(g.rows)
	p.WriteString(t.Render() + "\n")
}

// widen makes the columns of a group as wide as its name together. go-pretty divides by zero (v6.8.3) where it
// would have to, and none of them is narrower than its share.
func (g *grid) widen(configs []table.ColumnConfig) {
	for first := 0; first < len(g.groups); {
		end, total := first, -1
		for ; end < len(g.groups) && g.groups[end] == g.groups[first]; end++ {
			total += g.width(end) + 1
		}
		if missing := utf8.RuneCountInString(g.groups[first]) - total; missing > 0 {
			count := end - first
			for i := first; i < end; i++ {
				configs[i].WidthMin = g.width(i) + (missing+count-1)/count
			}
		}
		first = end
	}
}

// A column of words that is wider than `short` is wrapped, to no less than narrowest.
const short, narrowest = 14, 10

// fit are the widths of the columns with which the table fits, if it can: always the widest of words gives way.
func (g *grid) fit(width int) []int {
	widths, total := make([]int, len(g.columns)), 0
	for i := range widths {
		widths[i] = g.width(i)
		total += widths[i] + 2 // a space on each side
	}
	for ; total > width; total-- {
		widest := -1
		for i, c := range g.columns {
			if !c.numbers && g.width(i) > short && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// wrapName breaks each line of a text where it is too long: between words, behind the parts of a name or the numbers of a
// shape, and anywhere only if there are none.
func wrapName(s string, width int) string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
		rest := []rune(line)
		for len(rest) > width {
			cut := width
			for cut > 0 && !breaks(rest, cut) {
				cut--
			}
			if cut == 0 {
				cut = width
			}
			all = append(all, strings.TrimRight(string(rest[:cut]), " "))
			rest = rest[cut:]
		}
		all = append(all, string(rest))
	}
	return strings.Join(all, "\n")
}

// breaks tells whether a line may end before a character.
func breaks(line []rune, at int) bool {
	last := line[at-1]
	return strings.ContainsRune(" _,+", last) || last == 'x' && at > 1 && unicode.IsDigit(line[at-2])
}

// wrap breaks each line of a text where it is too long.
func wrap(s string, width int) string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
		for part := range strings.SplitSeq(text.WrapSoft(line, width), "\n") {
			all = append(all, strings.TrimRight(part, " ")) // WrapSoft pads
		}
	}
	return strings.Join(all, "\n")
}

// width of a column in characters.
func (g *grid) width(i int) int {
	most := utf8.RuneCountInString(g.columns[i].name)
	for _, r := range g.rows {
		for l := range strings.SplitSeq(r[i].(string), "\n") {
			most = max(most, utf8.RuneCountInString(l))
		}
	}
	return most
}

// plain has a line below the header and nothing else, and no color.
var plain = func() table.Style {
	s := table.StyleLight
	s.Options = table.Options{SeparateHeader: true}
	s.Format.Header = text.FormatDefault
	return s
}()

func cell(c any) string {
	all, ok := c.(lines)
	if !ok {
		return clean(fmt.Sprint(c))
	}
	cleaned := make([]string, len(all))
	for i, l := range all {
		cleaned[i] = clean(l)
	}
	return strings.Join(cleaned, "\n")
}

// clean quotes text that holds anything but printable characters, so that no
// profile can steer a terminal, and cuts it where it is too long.
func clean(s string) string {
	if len(s) > longest {
		if r := []rune(s); len(r) > longest {
			s = string(r[:longest]) + "..."
		}
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
