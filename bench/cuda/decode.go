package cuda

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/schema"
)

// few says whether a head has so few queries that reading K and V takes longer than multiplying. Then
// kernels without tensor cores do, even if they read K and V once for every decodeQueries queries.
func (a attention) few(d schema.DType) bool {
	most := decodeQueries
	if !d.Mixed() {
		most *= 4
	}
	return !a.causal && a.sq <= most
}

// decodeQueries is how many queries share the K and V that a block of the kernel reads.
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

// fill is the number of parts, at most `most`, into which to divide each block if `resident` of them run at once: the
// smallest by which all waves together are at least 90% full, or else the one by which they are fullest.
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
