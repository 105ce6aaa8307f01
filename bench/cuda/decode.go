package cuda

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/schema"
)

// few says whether the queries of a head are so few that it takes longer to read K and V than to
// multiply: kernels without tensor cores may then read them more than once.
func (a attention) few(d schema.DType) bool {
	most := decodeQueries
	if !d.Mixed() {
		most *= 4
	}
	return !a.causal && a.sq <= most
}

// decodeQueries are those that share what a block of the kernel reads.
const decodeQueries = 4

// bindDecode binds attention of few queries. Parts have some keys at least.
func (ws *workspace) bindDecode(c bench.Chain, a attention) (*kernel, error) {
	if a.d > 256 {
		return nil, fmt.Errorf("cuda: heads of %d columns, the kernels take up to 256: %w", a.d, bench.ErrUnsupported)
	}
	queries, d := min(a.sq, decodeQueries), 64
	if queries > 1 {
		queries = decodeQueries
	}
	for d < a.d {
		d *= 2
	}
	const keysPerPart = 64
	blocks := a.heads * ceil(a.sq, queries)
	resident := 3 * ws.backend.sms // as decode_blocks has it
	if ws.dtype == schema.FP64 {
		resident = 2 * ws.backend.sms
	}
	parts := fill(blocks, resident, a.sk/keysPerPart)
	memory, err := ws.parts(a, d, parts)
	if err != nil {
		return nil, err
	}
	k, err := ws.ours("decode", fmt.Sprintf("decode_%dx%d", queries, d), Grid{Blocks: [3]int{blocks, parts}, Threads: [3]int{attentionThreads}},
		ws.pointer(c.Output()), memory, ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]), ws.pointer(c[len(c)-1].In[1]),
		Int(a.sq), Int(a.sk), Int(a.d), ws.scalar(a.scale*math.Log2E))
	if err != nil {
		return nil, err
	}
	return ws.joined(k, c, a, d, parts, memory)
}

// fill is into how many parts blocks are to be divided, of which so many run at once: as few as leave no
// more than a tenth of the device idle while the last run, or those that leave the least.
func fill(blocks, resident, most int) int {
	best, used := 1, 0.0
	for parts := 1; parts <= most && used < 0.9; parts++ {
		all := blocks * parts
		if u := float64(all) / float64(ceil(all, resident)*resident); u > used {
			best, used = parts, u
		}
	}
	return best
}
