package cpu

import (
	"fmt"
	"unsafe"
)

// narrowAttention is the plan of attention in 16 bits, and of its parts. Panels of
// queries, as high as a tile, go through blocks of keys:
//
//	S = Q K^T    sums in fp32
//	O += P V     sums in fp32, of each panel until its last block of keys
//
// Q and P are packed as A. So is K, and each step of it is then transposed, as rows of
// K are columns of the right-hand side. V is packed as B. Blocks are in the order of causal,
// which leaves out keys that a query does not see; without a mask it sees all.
type narrowAttention struct {
	*causal[float32]
	half           halfKernels
	qkPlan, pvPlan *narrowGEMM // of a head
	asRows         *narrowGEMM // K as if it were A, in panels as wide as those of B
	zeros          []float32   // one a row of a panel
}

func newNarrowAttention(u unit, isa ISA, caches cacheSizes, workers int, s attentionShape) (*narrowAttention, error) {
	a, err := newAttention[float32](isa, caches, workers, s)
	if err != nil {
		return nil, err
	}
	x := &narrowAttention{half: halfKernelsFor(u.dtype, isa)}
	if x.qkPlan, err = newNarrowGEMM(u, a.caches, 1, a.sq, a.sk, a.d); err != nil {
		return nil, err
	}
	if x.pvPlan, err = newNarrowGEMM(u, a.caches, 1, a.sq, a.d, a.sk); err != nil {
		return nil, err
	}
	rows := *x.qkPlan
	rows.mr = rows.nr
	x.asRows, x.zeros = &rows, make([]float32, x.qkPlan.mr)
	// Blocks of K and V take a quarter of L2, a block of scores half of that at most; the
	// sums of the panels that share them a quarter.
	mr, nr, l2 := x.qkPlan.mr, x.qkPlan.nr, a.caches.L2
	columns := ceilDiv(a.d, nr)
	fit := min(l2/8/max(x.qkPlan.steps*stepBytes, columns*nr*x.qkPlan.size), l2/8/(mr*accBytes))
	grain := x.grain()
	x.causal = &causal[float32]{
		attention: a,
		rows:      newPanels(a.sq, mr),
		keys:      even(a.sk, max(fit/grain*grain, grain), grain),
		most:      clamp(l2/4/(columns*x.qkPlan.tile()), 1, a.group*ceilDiv(a.sq, mr)),
		shares:    a.attentionShape.shares(workers, mr),
	}
	return x, nil
}

// narrowAttentionScratch is what one worker writes to.
type narrowAttentionScratch struct {
	q, k, v, p []byte    // packed: panels of Q, a block of K and of V, a part of a panel of P
	tiles      []float32 // a few
	s          []float32 // the scores of a panel and a block
	acc        []float32 // tiles of O of each panel
	max, sum   []float32 // by query of each panel
	factor     []float32 // of each row of a panel
	lanes      *rowLanes
	spare      []byte       // as that of narrowScratch
	wide       [2][]float32 // a step of K, and transposed
}

// grain is what blocks of keys are multiples of: whole tiles of scores, and steps of V. One is a
// multiple of the other.
func (x *narrowAttention) grain() int { return max(x.qkPlan.nr, x.depth()) }

// ld is the distance of the rows of a block of scores: whole tiles, and a line more,
// so that rows do not compete for the same sets of L1.
func (x *narrowAttention) ld() int { return ceilDiv(x.keys, x.grain())*x.grain() + 16 }

// columns is the number of tiles of a panel of O.
func (x *narrowAttention) columns() int { return ceilDiv(x.d, x.qkPlan.nr) }

// accLen is the number of sums of a panel of O.
func (x *narrowAttention) accLen() int { return x.columns() * x.qkPlan.mr * x.qkPlan.nr }

func (x *narrowAttention) lengths() []int {
	mr, nr, step := x.qkPlan.mr, x.qkPlan.nr, stepBytes*x.qkPlan.nr
	return []int{
		x.most * x.qkPlan.panelA(x.qkPlan.steps), ceilDiv(x.keys, nr) * step * x.qkPlan.steps,
		ceilDiv(x.keys, x.depth()) * step * x.columns(), x.qkPlan.panelA(x.pvPlan.kc),
		x.few() * mr * accBytes, mr * x.ld() * accBytes, x.most * x.accLen() * accBytes,
		x.most * mr * accBytes, x.most * mr * accBytes, mr * accBytes,
		int(unsafe.Sizeof(rowLanes{})),
		max(step*x.qkPlan.steps, x.qkPlan.spareBytes()), 2 * step, 2 * step,
	}
}

// depth is the number of keys of a step.
func (x *narrowAttention) depth() int { return stepBytes / x.qkPlan.size }

// scratchBytes is the size of the memory that every method wants.
func (x *narrowAttention) scratchBytes() int64 {
	total := 0
	for _, n := range x.lengths() {
		total += ceilDiv(n, stepBytes) * stepBytes
	}
	return int64(total * x.workers)
}

func (x *narrowAttention) newScratch(mem []byte) ([]narrowAttentionScratch, error) {
	if want := x.scratchBytes(); int64(len(mem)) < want {
		return nil, fmt.Errorf("cpu: attention %+v: scratch of %d bytes, want %d", x.attentionShape, len(mem), want)
	}
	scratch := make([]narrowAttentionScratch, x.workers)
	for i := range scratch {
		var parts [14][]byte
		for j, n := range x.lengths() {
			parts[j] = mem[:n:n]
			mem = mem[ceilDiv(n, stepBytes)*stepBytes:]
		}
		floats := func(j int) []float32 { return as[float32](parts[j]) }
		scratch[i] = narrowAttentionScratch{
			q: parts[0], k: parts[1], v: parts[2], p: parts[3], tiles: floats(4), s: floats(5), acc: floats(6),
			max: floats(7), sum: floats(8), factor: floats(9),
			lanes: (*rowLanes)(unsafe.Pointer(&parts[10][0])), spare: parts[11], wide: [2][]float32{floats(12), floats(13)},
		}
	}
	return scratch, nil
}
