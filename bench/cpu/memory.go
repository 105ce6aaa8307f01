package cpu

import (
	"errors"
	"slices"

	"hwcal/bench"
)

// memory hands out buffers of one case after the other from arenas. It keeps the
// pages from case to case, unless they are spread: those of a virtual machine are expensive to touch for
// the first time.
type memory struct {
	huge   bool
	numa   bench.NUMA // where arenas are bound to, if anywhere
	nodes  []int      // of the workers
	spread bool       // workers are on several NUMA nodes: pages are to lie near those who touch them first in each case
	arenas []*arena
	next   int64 // size that would have held all of the last case
	open   int   // workspaces
	// tried is the number of the fastest kernel for a result, among several, while workspaces are open: see storing.
	tried map[triedKey]int
	// unpackedA says of units whether they multiply unpacked rows of A: see rowsAreFaster.
	unpackedA map[string]bool
}

// arenaBytes is the smallest arena.
const arenaBytes = 64 << 20

// alloc returns n bytes, whatever they hold.
func (m *memory) alloc(n int64) ([]byte, error) {
	if len(m.arenas) > 0 {
		if b, err := m.arenas[len(m.arenas)-1].alloc(n); err == nil {
			return b, nil
		}
	}
	size := max(arenaBytes, n+hugePage, m.next)
	a, err := newArena(size, m.huge)
	if err != nil {
		return nil, err
	}
	if m.numa.Bound {
		if err := bindMemory(a.whole, m.numa.Memory); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	m.arenas = append(m.arenas, a)
	return a.alloc(n)
}

// fresh says that what alloc returned last may have pages that nobody has touched.
func (m *memory) fresh() bool { return m.arenas[len(m.arenas)-1].fresh() }

// enter counts a workspace that is opened.
func (m *memory) enter() {
	if m.open++; m.tried == nil {
		m.tried = map[triedKey]int{}
	}
}

// leave takes all buffers back when the last workspace is closed. It unmaps several arenas, so that the next is one
// that would have held everything, and arenas spread over nodes, so that the next case gets untouched pages.
func (m *memory) leave() error {
	if m.open--; m.open > 0 {
		return nil
	}
	m.tried = nil
	if len(m.arenas) == 1 && !m.spread {
		m.arenas[0].reset()
		return nil
	}
	m.next = 0
	for _, a := range m.arenas {
		m.next += int64(len(a.mem))
	}
	return m.unmap()
}

// move is called before workers on these nodes use the memory. Pages that lie elsewhere are given up.
func (m *memory) move(numa bench.NUMA, nodes []int) error {
	if m.numa == numa && slices.Equal(m.nodes, nodes) {
		return nil
	}
	m.numa, m.nodes, m.spread = numa, nodes, len(nodes) > 1 && !numa.Bound
	return m.unmap()
}

// unmap gives all memory back to the system.
func (m *memory) unmap() error {
	var first error
	for _, a := range m.arenas {
		if err := a.close(); err != nil && first == nil {
			first = err
		}
	}
	m.arenas = nil
	return first
}
