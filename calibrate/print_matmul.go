package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hwcal/schema"
)

// isMatmul: matmul, matmul_packed, matmul_batched.
func isMatmul(c *schema.Compute) bool { return strings.HasPrefix(c.Operation, "matmul") }

// matmuls prints the best rate of a matrix multiplication and what it is of the
// register peak, by shape on one thread and on all: the curve of efficiency over
// size. The numbers of threads between, on one shape, have a table of their own.
func (p *page) matmuls(d *schema.Device) {
	most := 0
	for i := range d.Compute {
		if c := &d.Compute[i]; isMatmul(c) {
			most = max(most, c.Threads)
		}
	}
	scaled := "" // the shape that was measured on numbers of threads between
	bySize, byThreads := newRateTable("m x n x k"), newRateTable("threads")
	for i := range d.Compute {
		c := &d.Compute[i]
		switch {
		case !isMatmul(c) || c.GFLOPS == nil:
		case c.Threads == 1 || c.Threads == most:
			packed := "plain"
			if c.Operation == "matmul_packed" {
				packed = "packed"
			}
			bySize.add(dims(c.InputShape), fmt.Sprintf("%s, %s", c.DType, threadCount(c.Threads)), packed, c)
		default:
			scaled = dims(c.InputShape)
		}
	}
	for i := range d.Compute {
		if c := &d.Compute[i]; c.Operation == "matmul" && c.GFLOPS != nil && dims(c.InputShape) == scaled {
			byThreads.add(strconv.Itoa(c.Threads), string(c.DType), "plain", c)
		}
	}
	slices.SortStableFunc(bySize.rows, func(a, b string) int { return cmp.Compare(edge(a), edge(b)) })
	bySize.print(p, "Matmul, best GFLOPS and share of the register peak; packed: the right-hand side packed before")
	byThreads.print(p, "Matmul "+scaled+" over threads, best GFLOPS and share of the register peak")
}

// edge is the n of n x n x n; other shapes come behind all of those.
func edge(shape string) int {
	first, rest, _ := strings.Cut(shape, "x")
	if n, err := strconv.Atoi(first); err == nil && rest == first+"x"+first {
		return n
	}
	return math.MaxInt
}

// rateTable has a row of cells for each name, and groups of columns.
type rateTable struct {
	rowName string
	rows    []string
	seen    map[string]bool // rows
	groups  []rateGroup
	cells   map[rateCell]*schema.Compute
}

type rateGroup struct {
	name    string
	columns []string
}

type rateCell struct{ row, group, column string }

func newRateTable(rowName string) *rateTable {
	return &rateTable{rowName: rowName, seen: map[string]bool{}, cells: map[rateCell]*schema.Compute{}}
}

func (t *rateTable) add(row, group, column string, c *schema.Compute) {
	if !t.seen[row] {
		t.seen[row] = true
		t.rows = append(t.rows, row)
	}
	i := slices.IndexFunc(t.groups, func(g rateGroup) bool { return g.name == group })
	if i < 0 {
		i = len(t.groups)
		t.groups = append(t.groups, rateGroup{name: group})
	}
	if g := &t.groups[i]; !slices.Contains(g.columns, column) {
		g.columns = append(g.columns, column)
	}
	at := rateCell{row, group, column}
	if old := t.cells[at]; old == nil || c.GFLOPS.Best > old.GFLOPS.Best {
		t.cells[at] = c
	}
}

// rateGroups is how many groups, of two columns each, fit side by side on the widest page.
const rateGroups = 4

func (t *rateTable) print(p *page, heading string) {
	if len(t.rows) == 0 {
		return
	}
	p.heading("%s", heading)
	flagged := false
	for some := range slices.Chunk(t.groups, p.beside(rateGroups)) {
		g := newGrid(words(t.rowName))
		g.groups = []string{""}
		for _, group := range some {
			for _, column := range group.columns {
				g.groups = append(g.groups, group.name)
				g.columns = append(g.columns, numbers(column))
			}
		}
		for _, row := range t.rows {
			cells := []any{row}
			for _, group := range some {
				for _, column := range group.columns {
					cell := rate(t.cells[rateCell{row, group.name, column}])
					flagged = flagged || strings.HasSuffix(cell, "!")
					cells = append(cells, cell)
				}
			}
			g.row(cells...)
		}
		p.grid(g)
	}
	if flagged {
		p.line(" ! see the warnings")
	}
}

// rate is the best one, what it is of the register peak, and whether there is a
// warning.
func rate(c *schema.Compute) string {
	if c == nil {
		return absent
	}
	s := figure(c.GFLOPS.Best)
	if c.Efficiency > 0 {
		s += fmt.Sprintf(" %3.0f%%", 100*c.Efficiency)
	}
	if len(c.Warnings) > 0 {
		s += "!"
	}
	return s
}
