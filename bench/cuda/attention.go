package cuda

import (
	"fmt"
	"math"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	for chain, bind := range map[string]func(*workspace, bench.Chain, attention) (*kernel, error){
		"qk_t":                         (*workspace).bindScores,
		"pv":                           (*workspace).bindWeighted,
		"qk_t+scale":                   (*workspace).bindScores,
		"qk_t+scale+softmax":           (*workspace).bindWeights,
		"qk_t+scale+softmax+pv":        (*workspace).bindAttention,
		"qk_t+scale+causal_softmax+pv": (*workspace).bindAttention,
	} {
		register(chain, entry{
			provider: own, dtypes: floats, least: Capability{8, 0}, // for cp.async
			bind: func(ws *workspace, c bench.Chain) (*kernel, error) {
				a, err := attentionOf(c)
				if err != nil {
					return nil, err
				}
				return bind(ws, c, a)
			},
		})
	}
}

// attention is the shape of softmax(scale Q K^T) V and of its parts: Q is [heads,sq,d], K and V are
// [heads/group,sk,d], contiguous. heads counts the batch in. With causal, query i sees the keys up
// to i + sk - sq.
type attention struct {
	heads, sq, sk, d, group int
	causal                  bool
	scale                   float64
}

// attentionOf reads the shape off the first operand [B,H,Sq,.] and the second, [B,G,Sk,D], of qk_t or pv.
// Heads that share K and V are adjacent: without a causal mask, by which their queries see different keys, they are
// merged into one head with the queries of all.
func attentionOf(c bench.Chain) (attention, error) {
	x, y := c[0].In[0], c[0].In[1]
	a := attention{
		heads: int(x.Dims[0] * x.Dims[1]), sq: int(x.Dims[2]), sk: int(y.Dims[2]), d: int(y.Dims[3]),
		group: int(x.Dims[1] / y.Dims[1]), causal: x.Causal || c[0].Out.Causal, scale: 1,
	}
	if !a.causal {
		a.heads, a.sq, a.group = a.heads/a.group, a.sq*a.group, 1
	}
	if len(c) > 1 {
		a.scale = c[1].Params.(bench.ScaleParams).Factor
	}
	if a.scale <= 0 {
		return a, fmt.Errorf("cuda: softmax of scores scaled by %g: want a positive factor: %w", a.scale, bench.ErrUnsupported)
	}
	return a, counted(int64(a.heads), int64(a.sq), int64(a.sk), int64(a.d))
}

// attentionTile is what a block of 128 threads works on: so many queries against so many keys at a
// time, of up to d columns.
type attentionTile struct{ queries, keys, d int }

func (t attentionTile) String() string { return fmt.Sprintf("%dx%dx%d", t.queries, t.keys, t.d) }

// attentionTiles are those of ATTENTION_TILES in kernels/attention.cuh.
var attentionTiles = map[schema.DType][]attentionTile{
	schema.BF16: {{64, 64, 64}, {128, 64, 64}, {64, 64, 128}, {128, 64, 128}, {64, 32, 256}},
	schema.FP16: {{64, 64, 64}, {128, 64, 64}, {64, 64, 128}, {128, 64, 128}, {64, 32, 256}},
	schema.TF32: {{64, 64, 64}, {64, 32, 128}, {64, 16, 256}},
	schema.FP32: {{64, 32, 64}, {64, 32, 128}, {32, 16, 256}},
	schema.FP64: {{32, 16, 64}, {32, 16, 128}, {16, 16, 256}},
}

// attentionThreads are those of a block of all these kernels.
const attentionThreads = 128

// blocks of a tile for all queries.
func (a attention) blocks(t attentionTile) int { return a.heads * ceil(a.sq, t.queries) }

// shared is the shared memory of a block in bytes: the queries, a ring of three tiles of keys, and, without
// tensor cores, a buffer through which threads exchange the weights. Rows of 16-bit elements are
// swizzled, others padded by 16 bytes.
func (t attentionTile) shared(d schema.DType) int {
	size, row := int(d.Bytes()), t.d*int(d.Bytes())
	if size > 2 {
		row += 16
	}
	bytes := (t.queries + 3*t.keys) * row
	if !d.Mixed() {
		bytes += t.queries * t.keys * size
	}
	return bytes
}

// tile chooses the narrowest tile with room for d columns, and of these the one with the most queries that still
// leaves a block for each SM.
func (ws *workspace) tile(a attention) (attentionTile, error) {
	tiles := attentionTiles[ws.dtype]
	fits := slices.IndexFunc(tiles, func(t attentionTile) bool { return t.d >= a.d })
	if fits < 0 {
		return attentionTile{}, fmt.Errorf("cuda: heads of %d columns, the kernels take up to %d: %w", a.d, tiles[len(tiles)-1].d, bench.ErrUnsupported)
	}
	best := tiles[fits]
	for _, t := range tiles[fits:] {
		if t.d == best.d && t.queries > best.queries && a.blocks(t) >= ws.backend.sms {
			best = t
		}
	}
	room, err := ws.context.Attribute(SharedBytesPerBlock)
	if err != nil {
		return best, err
	}
	if want := best.shared(ws.dtype); want > room {
		return best, fmt.Errorf("cuda: heads of %d columns want %d bytes of shared memory a block, the device has %d: %w", a.d, want, room, bench.ErrUnsupported)
	}
	return best, nil
}

// grid is that of a tile, with the keys in so many parts.
func (a attention) grid(t attentionTile, d schema.DType, parts int) Grid {
	return Grid{Blocks: [3]int{a.blocks(t), parts}, Threads: [3]int{attentionThreads}, Shared: t.shared(d)}
}

// blocksPerSM is how many blocks of most of these kernels an SM has registers for at a time.
const blocksPerSM = 2

// skinny says whether a product with so few queries is one for the vector units.
func (a attention) skinny() bool { return !a.causal && a.sq <= skinnyRows }

// product binds that of the operands of the first operation.
func (ws *workspace) product(c bench.Chain, p gemmShape) (*kernel, error) {
	e, err := ws.epilogueOf(c[0], nil, c[1:])
	if err != nil {
		return nil, err
	}
	return ws.multiply("gemm", "gemm", p, ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]), e)
}

// bindWeighted binds P V.
func (ws *workspace) bindWeighted(c bench.Chain, a attention) (*kernel, error) {
	if p := (gemmShape{batch: int64(a.heads), m: int64(a.sq), n: int64(a.d), k: int64(a.sk), operands: 1}); a.skinny() {
		return ws.product(c, p)
	}
	t, err := ws.tile(a)
	if err != nil {
		return nil, err
	}
	return ws.ours("weighted", "weighted_"+t.String(), a.grid(t, ws.dtype, 1),
		ws.pointer(c.Output()), ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]),
		Int(a.group), Int(a.sq), Int(a.sk), Int(a.d), truth(a.causal))
}

// bindScores binds scale Q K^T. The keys are divided until there are blocks enough.
func (ws *workspace) bindScores(c bench.Chain, a attention) (*kernel, error) {
	if p := (gemmShape{batch: int64(a.heads), m: int64(a.sq), n: int64(a.sk), k: int64(a.d), operands: 1, byRows: true}); a.skinny() {
		return ws.product(c, p)
	}
	t, err := ws.tile(a)
	if err != nil {
		return nil, err
	}
	parts := between(1, 2*blocksPerSM*ws.backend.sms/a.blocks(t), ceil(a.sk, t.keys))
	return ws.ours("scores", "scores_"+t.String(), a.grid(t, ws.dtype, parts),
		ws.pointer(c.Output()), ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]),
		Int(a.group), Int(a.sq), Int(a.sk), Int(a.d), truth(a.causal), ws.scalar(a.scale))
}

// bindWeights binds softmax(scale Q K^T).
func (ws *workspace) bindWeights(c bench.Chain, a attention) (*kernel, error) {
	t, err := ws.tile(a)
	if err != nil {
		return nil, err
	}
	return ws.ours("scores", "weights_"+t.String(), a.grid(t, ws.dtype, 1),
		ws.pointer(c.Output()), ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]),
		Int(a.group), Int(a.sq), Int(a.sk), Int(a.d), ws.scalar(a.scale*math.Log2E))
}

// bindAttention binds the whole chain. Where there are fewer blocks than SMs, the keys are divided into
// parts of at least keysPerPart, whose results a second kernel joins.
func (ws *workspace) bindAttention(c bench.Chain, a attention) (*kernel, error) {
	if a.few(ws.dtype) {
		return ws.bindDecode(c, a)
	}
	t, err := ws.tile(a)
	if err != nil {
		return nil, err
	}
	const keysPerPart = 256
	parts := 1
	if blocks := a.blocks(t); blocks < ws.backend.sms {
		parts = between(1, blocksPerSM*ws.backend.sms/blocks, a.sk/keysPerPart)
	}
	memory, err := ws.parts(a, t.d, parts)
	if err != nil {
		return nil, err
	}
	k, err := ws.ours("attention", "attention_"+t.String(), a.grid(t, ws.dtype, parts),
		ws.pointer(c.Output()), memory, ws.pointer(c[0].In[0]), ws.pointer(c[0].In[1]), ws.pointer(c[len(c)-1].In[1]),
		Int(a.heads), Int(a.group), Int(a.sq), Int(a.sk), Int(a.d), truth(a.causal), ws.scalar(a.scale*math.Log2E))
	if err != nil {
		return nil, err
	}
	return ws.joined(k, c, a, t.d, parts, memory)
}

// parts allocates memory for the partial results of the parts of the keys, in rows of d columns: see
// kernels/attention_parts.cuh.
func (ws *workspace) parts(a attention, d, parts int) (Arg, error) {
	if parts == 1 {
		return Pointer(0), nil
	}
	memory, err := ws.alloc(int64(parts) * int64(a.heads) * int64(a.sq) * int64(d+2) * max(4, ws.dtype.Bytes()))
	return Pointer(memory), err
}

// joined follows a kernel with the one that joins its parts, if there are several.
func (ws *workspace) joined(k *kernel, c bench.Chain, a attention, d, parts int, memory Arg) (*kernel, error) {
	if parts == 1 {
		return k, nil
	}
	rows := int64(a.heads) * int64(a.sq)
	join, err := ws.ours("decode", fmt.Sprintf("join_%d", d), linear(rows*int64(d), attentionThreads, 1),
		ws.pointer(c.Output()), memory, Int(parts), Long(rows), Int(a.d))
	if err != nil {
		return nil, err
	}
	return &kernel{name: k.name, enqueue: func() error {
		if err := k.enqueue(); err != nil {
			return err
		}
		return join.enqueue()
	}}, nil
}

func truth(is bool) Arg {
	if is {
		return Int(1)
	}
	return Int(0)
}

func ceil(n, by int) int { return (n + by - 1) / by }

// between is n, but not below the least and not above the most, which gives way to it.
func between(least, n, most int) int { return max(least, min(n, most)) }
