package cpu

import "hwcal/schema"

// narrowDecode is decode of tensors in 16 bits. It needs no unit for them: reading K
// and V takes the time, and a few rows at a time become fp32 in L1, where decode's kernels
// work on them.
type narrowDecode struct {
	*decode[float32]
	half halfKernels
	few  int // rows of K or V at a time
}

func newNarrowDecode(d schema.DType, isa ISA, caches cacheSizes, workers int, s attentionShape) (*narrowDecode, error) {
	x, err := newDecode[float32](isa, caches, workers, s)
	if err != nil {
		return nil, err
	}
	x.far = false // rows come from L1
	fit := orElse(caches.L1, typicalCaches.L1) / 4 / (4 * x.d) / 4 * 4
	return &narrowDecode{x, halfKernelsFor(d, isa), clamp(fit, 4, 4*x.steps)}, nil
}

// narrowDecodeScratch is what one worker writes to.
type narrowDecodeScratch struct {
	decodeScratch[float32]
	q, o    []float32 // of a head
	rows    []float32 // of K or V
	weights []float32 // of these rows
}

func (x *narrowDecode) lengths() []int { return []int{x.m * x.d, x.m * x.d, x.few * x.d, x.m * x.few} }

func (x *narrowDecode) scratchBytes(workers int) int64 {
	return x.decode.scratchBytes(workers) + int64(workers)*lengthBytes[float32](x.lengths()...)
}

func (x *narrowDecode) newScratch(mem []byte, workers int) ([]narrowDecodeScratch, []decodePart[float32], error) {
	inner, parts, err := x.decode.newScratch(mem, workers)
	if err != nil {
		return nil, nil, err
	}
	c := cutter[float32]{as[float32](mem[x.decode.scratchBytes(workers):])}
	scratch := make([]narrowDecodeScratch, workers)
	for i := range scratch {
		l := x.lengths()
		scratch[i] = narrowDecodeScratch{inner[i], c.cut(l[0]), c.cut(l[1]), c.cut(l[2]), c.cut(l[3])}
	}
	return scratch, parts, nil
}

// widened is src in fp32.
func (x *narrowDecode) widened(dst []float32, src []uint16) []float32 {
	dst, n := dst[:len(src)], len(src)
	x.half.widen(&dst[0], &src[0], n, n, 1, n)
	return dst
}

// halfHead is one head of a tensor [heads, rows, cols].
func halfHead(x []uint16, i, rows, cols int) []uint16 { return x[i*rows*cols:][:rows*cols] }

// eachFew calls f with a few of n rows from row at on at a time, in fp32.
func (x *narrowDecode) eachFew(buf *narrowDecodeScratch, matrix []uint16, at, n int, f func(i, m int, rows []float32)) {
	for i := 0; i < n; i += x.few {
		m := min(x.few, n-i)
		f(i, m, x.widened(buf.rows, matrix[(at+i)*x.d:][:m*x.d]))
	}
}

// full is O = softmax(Q K^T / sqrt(D)) V.
func (x *narrowDecode) full(mem []byte, workers int, q, k, v, o []uint16) (func(w *worker), error) {
	scratch, parts, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		buf := &scratch[w.id]
		x.each(w, func(item, h, lo, hi int) {
			p, queries := parts[item], x.widened(buf.q, halfHead(q, h, x.m, x.d))
			keys, values := halfHead(k, h, x.sk, x.d), halfHead(v, h, x.sk, x.d)
			p.begin()
			for at := lo; at < hi; at += 4 * x.steps {
				n := min(4*x.steps, hi-at)
				x.eachFew(buf, keys, at, n, func(i, m int, rows []float32) {
					x.scores(&buf.decodeScratch, queries, rows, m, buf.s[i*x.m:], 4, 4*x.m)
				})
				x.normalise(&buf.decodeScratch, p, n)
				x.eachFew(buf, values, at, n, func(i, m int, rows []float32) {
					x.sum(&buf.decodeScratch, p.acc, rows, m, buf.s[i*x.m:])
				})
			}
		})
		w.barrier()
		lo, hi := w.share(x.heads, 1)
		for h := lo; h < hi; h++ {
			x.join(buf.o, parts[h*x.cuts:][:x.cuts], buf.shift)
			x.store(o, h, buf.o)
		}
	}, nil
}

// store rounds what a head gives.
func (x *narrowDecode) store(o []uint16, h int, wide []float32) {
	to := halfHead(o, h, x.m, x.d)
	x.half.round(&to[0], &wide[:len(to)][0], len(to), len(to), 1, len(to))
}

// qkT is scores = Q K^T.
func (x *narrowDecode) qkT(mem []byte, workers int, q, k, scores []uint16) (func(w *worker), error) {
	scratch, _, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		buf := &scratch[w.id]
		x.each(w, func(_, h, lo, hi int) {
			queries, to := x.widened(buf.q, halfHead(q, h, x.m, x.d)), halfHead(scores, h, x.m, x.sk)
			x.eachFew(buf, halfHead(k, h, x.sk, x.d), lo, hi-lo, func(i, n int, rows []float32) {
				x.scores(&buf.decodeScratch, queries, rows, n, buf.s, x.few, 4)
				to := to[lo+i:][:(x.m-1)*x.sk+n]
				x.half.round(&to[0], &buf.s[0], x.sk, x.few, x.m, n)
			})
		})
	}, nil
}

// pv is O = P V.
func (x *narrowDecode) pv(mem []byte, workers int, p, v, o []uint16) (func(w *worker), error) {
	scratch, parts, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		buf := &scratch[w.id]
		x.each(w, func(item, h, lo, hi int) {
			weights, acc := halfHead(p, h, x.m, x.sk), parts[item].acc
			clear(acc)
			x.eachFew(buf, halfHead(v, h, x.sk, x.d), lo, hi-lo, func(i, n int, rows []float32) {
				from := weights[lo+i:][:(x.m-1)*x.sk+n]
				x.half.widen(&buf.weights[0], &from[0], x.few, x.sk, x.m, n)
				x.inSteps(buf.s, buf.weights, x.few, n)
				x.sum(&buf.decodeScratch, acc, rows, n, buf.s)
			})
		})
		w.barrier()
		lo, hi := w.share(x.heads, 1)
		for h := lo; h < hi; h++ {
			total(buf.o, parts[h*x.cuts:][:x.cuts])
			x.store(o, h, buf.o)
		}
	}, nil
}
