package cpu

import (
	"slices"
	"testing"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// Workspaces that are open together share no memory, in whichever order they are closed, and what all
// of them took is there again when the last one is.
func TestOpenTogether(t *testing.T) {
	b := testBackend(t, "")
	c := caseOf(t, "Linear_Bias", "64x64x64", schema.FP32, 1)
	open := func() *workspace {
		ws, err := b.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return ws.(*workspace)
	}
	where := func(ws *workspace) (lo, hi uintptr) {
		lo = ^uintptr(0)
		for _, t := range ws.tensors {
			mem := t.mem
			at := uintptr(unsafe.Pointer(&mem[0]))
			lo, hi = min(lo, at), max(hi, at+uintptr(len(mem)))
		}
		return lo, hi
	}
	one, other := open(), open()
	first, _ := where(one)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	third := open()
	lo, hi := where(other)
	if l, h := where(third); l < hi && lo < h {
		t.Error("a workspace was opened in the memory of one that is open")
	}
	for _, ws := range []bench.Workspace{third, other} {
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
	}
	again := open()
	defer again.Close()
	if at, _ := where(again); at != first {
		t.Error("memory of closed workspaces is not used again")
	}
}

// The buffers of a case lie at other distances from each other in another layout: a way of L2 has a
// set for each line of 64 KiB.
func TestLayoutsDiffer(t *testing.T) {
	a, err := newArena(16<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	distances := map[uintptr]bool{}
	for range 10 {
		var at [2]uintptr
		for i := range at {
			mem, err := a.alloc(10000)
			if err != nil {
				t.Fatal(err)
			}
			at[i] = uintptr(unsafe.Pointer(&mem[0]))
		}
		distances[(at[1]-at[0])%(64<<10)/4096] = true
	}
	if len(distances) < 5 {
		t.Errorf("%d distances in ten layouts", len(distances))
	}
}

// On several NUMA nodes the pages of a case are nobody's before: the workers touch them first.
func TestSpreadPagesAreFresh(t *testing.T) {
	for _, spread := range []bool{false, true} {
		m := memory{spread: spread}
		for range 2 {
			m.enter()
			mem, err := m.alloc(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			if touched := mem[1<<19] != 0; touched && spread {
				t.Error("a page was touched before")
			}
			mem[1<<19] = 1
			if err := m.leave(); err != nil {
				t.Fatal(err)
			}
			if kept := len(m.arenas) > 0; kept == spread {
				t.Errorf("spread %t: pages are kept: %t", spread, kept)
			}
		}
		if err := m.unmap(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNodesOf(t *testing.T) {
	b := Backend{nodes: map[int][]int{0: {0, 1, 4}, 1: {2, 3}, 8: {}}}
	for _, c := range []struct{ cpus, want []int }{{nil, nil}, {[]int{4, 0}, []int{0}}, {[]int{3, 2, 0}, []int{0, 1}}} {
		if got := b.nodesOf(c.cpus); !slices.Equal(got, c.want) {
			t.Errorf("%v: nodes %v, want %v", c.cpus, got, c.want)
		}
	}
}

// Pages are kept for workers of the same nodes, and buffers on them are not fresh.
func TestMoveKeepsPages(t *testing.T) {
	var m memory
	use := func(nodes ...int) (fresh bool) {
		if err := m.move(bench.NUMA{}, nodes); err != nil {
			t.Fatal(err)
		}
		m.enter()
		mem, err := m.alloc(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		fresh = m.fresh()
		if mem[1<<19] != 0 == fresh {
			t.Errorf("nodes %v: fresh %t, but a byte of it is %d", nodes, fresh, mem[1<<19])
		}
		mem[1<<19] = 1
		if err := m.leave(); err != nil {
			t.Fatal(err)
		}
		return fresh
	}
	for i, c := range []struct {
		nodes []int
		fresh bool
	}{{[]int{0}, true}, {[]int{0}, false}, {[]int{1}, true}, {[]int{0, 1}, true}, {[]int{0, 1}, true}} {
		if fresh := use(c.nodes...); fresh != c.fresh {
			t.Errorf("place %d, on nodes %v: fresh %t", i, c.nodes, fresh)
		}
	}
	if err := m.unmap(); err != nil {
		t.Fatal(err)
	}
}
