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
			bySize.add(dims(c.InputShape), fmt.Sprintf("%s, %s", c.DType, plural(c.Threads, "thread")), packed, c)
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

// rateTable has a cell for each row and column; a column is one of a group.
type rateTable struct {
	rowName string
	rows    []string
	columns [][2]string // group and name
	cells   map[string]map[[2]string]*schema.Compute
}

func newRateTable(rowName string) *rateTable {
	return &rateTable{rowName: rowName, cells: map[string]map[[2]string]*schema.Compute{}}
}

func (t *rateTable) add(row, group, name string, c *schema.Compute) {
	at := [2]string{group, name}
	if t.cells[row] == nil {
		t.rows = append(t.rows, row)
		t.cells[row] = map[[2]string]*schema.Compute{}
	}
	if !slices.Contains(t.columns, at) {
		t.columns = append(t.columns, at)
	}
	if old := t.cells[row][at]; old == nil || c.GFLOPS.Best > old.GFLOPS.Best {
		t.cells[row][at] = c
	}
}

// rateColumns is how many columns fit side by side.
const rateColumns = 8

func (t *rateTable) print(p *page, heading string) {
	if len(t.rows) == 0 {
		return
	}
	p.heading("%s", heading)
	flagged := false
	for some := range slices.Chunk(t.columns, rateColumns) {
		g := newGrid(words(t.rowName))
		g.groups = []string{""}
		for _, at := range some {
			g.groups = append(g.groups, at[0])
			g.columns = append(g.columns, numbers(at[1]))
		}
		for _, row := range t.rows {
			cells, empty := []any{row}, true
			for _, at := range some {
				value := absent
				if c := t.cells[row][at]; c != nil {
					value, empty = figure(c.GFLOPS.Best), false
					if c.Efficiency > 0 {
						value += fmt.Sprintf(" %3.0f%%", 100*c.Efficiency)
					}
					if len(c.Warnings) > 0 {
						value, flagged = value+"!", true
					}
				}
				cells = append(cells, value)
			}
			if !empty {
				g.row(cells...)
			}
		}
		p.grid(g)
	}
	if flagged {
		p.line(" ! see the warnings")
	}
}
