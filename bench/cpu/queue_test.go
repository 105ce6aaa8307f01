package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// TestHelp holds the first worker up in its first panel of the last block until another has taken one of the same block.
func TestHelp(t *testing.T) {
	isas, err := ISAs()
	if err != nil {
		t.Fatal(err)
	}
	for _, isa := range isas {
		for threads := 2; threads <= 4; threads++ {
			for _, packed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/packed=%t", isa, threads, packed), func(t *testing.T) { testHelp(t, isa, threads, packed) })
			}
		}
	}
}

func testHelp(t *testing.T, isa ISA, threads int, packed bool) {
	kernels := newGEMMKernels[float32](isa)
	kernels.tilePlain, kernels.tileSkinny = nil, nil
	team, r := newTestTeam(t, threads), rand.New(rand.NewPCG(3, 1))
	for _, columns := range []int{1, 5} { // a panel of A is used once, or for several blocks
		m, n, k := 9*kernels.mr+1, threads*columns*kernels.nr, 50
		g := planGEMM(kernels, blocking{mc: 5 * kernels.mr, kc: 20, nc: 2 * kernels.nr}, threads, m, n, k)
		g.grid, g.mc = grid{rows: 1, cols: threads}, 5*kernels.mr
		scratch, err := g.newScratch(asBytes(guardedOne[float32](t, int(g.scratchBytes())/int(unsafe.Sizeof(float32(0))), false)))
		if err != nil {
			t.Fatal(err)
		}
		a, b := randomMatrix[float32](t, r, m, k, false, false), randomMatrix[float32](t, r, k, n, false, false)
		right := plain(b)
		if packed {
			right = g.prepackB(guardedOne[float32](t, g.packedBLen(), false), b)
		}
		alone, together := make([]float32, m*n), make([]float32, m*n)
		for id := range threads { // one after the other
			one := operand[float32]{matrix: a}
			g.computePacked(id, nil, scratch, &one, &right, matrix[float32]{data: alone, rows: m, cols: n, ld: n}, nil)
		}
		var panels atomic.Int32
		held := func(_ []float32, _, i0, _, _, _ int) {
			if i0 < g.mc || panels.Add(1) > 1 {
				return
			}
			for end := time.Now().Add(20 * time.Second); panels.Load() == 1; {
				if yield(); time.Now().After(end) {
					t.Error("nobody helped")
					return
				}
			}
		}
		team.run(func(w *worker) {
			var epi epilogue[float32]
			if w.id == 0 {
				epi = held
			}
			for w.id > 0 && panels.Load() == 0 {
				yield() // who comes before there is something to do leaves again
			}
			g.run(w, scratch, plain(a), right, matrix[float32]{data: together, rows: m, cols: n, ld: n}, epi)
		})
		if !slices.Equal(alone, together) {
			t.Errorf("%d columns: other results with help", columns)
		}
	}
}
