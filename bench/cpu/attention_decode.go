package cpu

import (
	"fmt"
	"math"
	"unsafe"
)

// decode is the plan of attention with few queries a head, after flash-decoding: it is
// bound by reading K and V, once for all queries that share them. Where the heads do
// not divide evenly among the workers, the keys of a head are cut into ranges so that
// these do; each range gives a partial result, and these are joined.
//
// The weights of a block of keys lie in steps of four keys, [step][query][4], as the
// kernel that sums up V wants them.
type decode[T float] struct {
	heads, m, sk, d int // heads of K and V, and queries of each
	scale           T
	cuts            int  // of the keys of a head
	repeat          int  // steps of a row of the softmax
	far             bool // K of a worker is not in its L2
	ahead           int  // elements of K that are fetched ahead
	steps           int  // of a block, a multiple of repeat
	vec             vecKernels[T]
	weigh           skinnyTile[T]
}

// decodeWidth is the number of columns that the column kernels work on at full speed.
const decodeWidth = 32

func newDecode[T float](isa ISA, caches cacheSizes, workers int, s attentionShape) (*decode[T], error) {
	if err := s.check(workers); err != nil {
		return nil, err
	}
	s = s.sharing()
	x := &decode[T]{
		heads: s.heads, m: s.sq, sk: s.sk, d: s.d,
		scale:  T(1 / math.Sqrt(float64(s.d))),
		cuts:   workers / gcd(s.heads, workers),
		repeat: ceilDiv(decodeWidth, 4*s.sq),
		far:    s.heads*s.sk*s.d*int(unsafe.Sizeof(T(0)))/workers > orElse(caches.L2, typicalCaches.L2),
		vec:    vecKernelsFor[T](isa),
		weigh:  weighPortable[T],
	}
	// The weights of a block fill a quarter of L1.
	fit := orElse(caches.L1, typicalCaches.L1) / 4 / (4 * x.m * int(unsafe.Sizeof(T(0))))
	x.steps = max(fit/x.repeat, 1) * x.repeat
	x.ahead = dotsAhead[T](s.d, x.far)
	if k := newGEMMKernels[T](isa); k.takesSkinny(s.d) {
		x.weigh = k.tileSkinny
	}
	return x, nil
}

// decodePart is what a range of keys gives: of each query the maximum of the scores,
// the sum of the weights e^(score - maximum), and that of V with these weights.
type decodePart[T float] struct{ max, sum, acc []T }

// begin forgets what other keys gave.
func (p decodePart[T]) begin() {
	for i := range p.max {
		p.max[i], p.sum[i] = T(math.Inf(-1)), 0
	}
	clear(p.acc)
}

// decodeScratch is what one worker writes to.
type decodeScratch[T float] struct {
	s                []T // the scores and weights of a block
	rest             []T // the last keys, with zeros behind
	max, shift, sums []T // of each column of s
}

func (x *decode[T]) scaleBy(factor float64) { x.scale = T(factor) }

func (x *decode[T]) width() int { return 4 * x.m * x.repeat }

func (x *decode[T]) lengths() []int {
	w := x.width()
	return []int{4 * x.m * x.steps, 4 * x.d, w, max(w, x.cuts), w}
}

func (x *decode[T]) partLengths() []int { return []int{x.m, x.m, x.m * x.d} }

// scratchBytes is the size of the memory for workers that every method wants.
func (x *decode[T]) scratchBytes(workers int) int64 {
	return int64(workers)*lengthBytes[T](x.lengths()...) + int64(x.heads*x.cuts)*lengthBytes[T](x.partLengths()...)
}

func (x *decode[T]) newScratch(mem []byte, workers int) ([]decodeScratch[T], []decodePart[T], error) {
	if want := x.scratchBytes(workers); int64(len(mem)) < want {
		return nil, nil, fmt.Errorf("cpu: decode: scratch of %d bytes, want %d", len(mem), want)
	}
	c := cutter[T]{as[T](mem)}
	scratch, parts := make([]decodeScratch[T], workers), make([]decodePart[T], x.heads*x.cuts)
	for i := range scratch {
		l := x.lengths()
		scratch[i] = decodeScratch[T]{c.cut(l[0]), c.cut(l[1]), c.cut(l[2]), c.cut(l[3]), c.cut(l[4])}
	}
	for i := range parts {
		l := x.partLengths()
		parts[i] = decodePart[T]{c.cut(l[0]), c.cut(l[1]), c.cut(l[2])}
	}
	return scratch, parts, nil
}

// each calls f for the worker's ranges of keys.
func (x *decode[T]) each(w *worker, f func(item, head, lo, hi int)) {
	first, last := w.share(x.heads*x.cuts, 1)
	for item := first; item < last; item++ {
		lo, hi := part(x.sk, 4, item%x.cuts, x.cuts)
		f(item, item/x.cuts, lo, hi)
	}
}

// full is O = softmax(Q K^T / sqrt(D)) V.
func (x *decode[T]) full(mem []byte, workers int, q, k, v, o []T) (func(w *worker), error) {
	scratch, parts, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		x.each(w, func(item, h, lo, hi int) {
			x.attend(&scratch[w.id], parts[item], head(q, h, x.m, x.d).data, head(k, h, x.sk, x.d).data, head(v, h, x.sk, x.d).data, lo, hi)
		})
		w.barrier()
		lo, hi := w.share(x.heads, 1)
		for h := lo; h < hi; h++ {
			x.join(head(o, h, x.m, x.d).data, parts[h*x.cuts:][:x.cuts], scratch[w.id].shift)
		}
	}, nil
}

// attend takes the queries of a head past the keys [lo, hi).
func (x *decode[T]) attend(buf *decodeScratch[T], p decodePart[T], q, k, v []T, lo, hi int) {
	p.begin()
	for at := lo; at < hi; at += 4 * x.steps {
		n := min(4*x.steps, hi-at)
		x.scores(buf, q, k[at*x.d:], n, buf.s, 4, 4*x.m)
		x.normalise(buf, p, n)
		x.sum(buf, p.acc, v[at*x.d:], n, buf.s)
	}
}

// scores writes the products of the queries and n keys in steps of four; what it
// writes behind the last key is any number.
func (x *decode[T]) scores(buf *decodeScratch[T], q, k []T, n int, s []T, row, step int) {
	whole := n / 4 * 4
	if whole > 0 {
		_, _ = k[whole*x.d-1], s[(x.m-1)*row+(whole/4-1)*step+3]
		x.vec.dots(x.m, whole, x.d, &q[0], x.d, &k[0], x.d, &s[0], row, step, x.ahead, x.far)
	}
	if whole < n {
		s = s[whole/4*step:]
		_ = s[(x.m-1)*row+3]
		x.vec.dots(x.m, 4, x.d, &q[0], x.d, &x.last(buf, k[whole*x.d:n*x.d])[0], x.d, &s[0], row, step, x.ahead, x.far)
	}
}

// last is a copy of the last rows, fewer than four, with zeros behind.
func (x *decode[T]) last(buf *decodeScratch[T], rows []T) []T {
	clear(buf.rest[copy(buf.rest, rows):])
	return buf.rest
}

// normalise turns the scores of n keys into weights and brings what the keys before
// have given to the new maxima.
func (x *decode[T]) normalise(buf *decodeScratch[T], p decodePart[T], n int) {
	// Behind the last key the weights are 0.
	w, steps := x.width(), ceilDiv(n, 4)
	rows := ceilDiv(steps, x.repeat)
	lowest := T(math.Inf(-1))
	for i := 0; n%4 != 0 && i < x.m; i++ {
		for j := n % 4; j < 4; j++ {
			buf.s[((steps-1)*x.m+i)*4+j] = lowest
		}
	}
	for i := steps * 4 * x.m; i < rows*w; i++ {
		buf.s[i] = lowest
	}
	for j := range w {
		buf.max[j], buf.sums[j] = lowest, 0
	}
	x.vec.colMax(&buf.max[0], &buf.s[0], w, rows, w)
	for i := range x.m {
		largest := p.max[i]
		for j := 4 * i; j < w; j += 4 * x.m {
			largest = max(largest, buf.max[j], buf.max[j+1], buf.max[j+2], buf.max[j+3])
		}
		for j := 4 * i; j < w; j += 4 * x.m {
			shift := -largest * x.scale
			buf.shift[j], buf.shift[j+1], buf.shift[j+2], buf.shift[j+3] = shift, shift, shift, shift
		}
		if largest > p.max[i] && p.sum[i] > 0 {
			shrink := T(math.Exp(float64((p.max[i] - largest) * x.scale)))
			p.sum[i] *= shrink
			acc := p.acc[i*x.d:][:x.d]
			x.vec.scale.slice(acc, acc, nil, shrink, 0)
		}
		p.max[i] = largest
	}
	x.vec.colExpSum(&buf.s[0], &buf.s[0], &buf.shift[0], &buf.sums[0], w, rows, w, x.scale)
	for i := range x.m {
		for j := 4 * i; j < w; j += 4 * x.m {
			p.sum[i] += buf.sums[j] + buf.sums[j+1] + buf.sums[j+2] + buf.sums[j+3]
		}
	}
}

// sum adds n rows of V with these weights, in steps of four, to acc.
func (x *decode[T]) sum(buf *decodeScratch[T], acc, v []T, n int, weights []T) {
	whole := n / 4
	_ = weights[ceilDiv(n, 4)*4*x.m-1]
	if whole > 0 {
		_ = v[4*whole*x.d-1]
		x.weigh(x.m, x.d, whole, &weights[0], &v[0], x.d, &acc[0], x.d)
	}
	if 4*whole < n {
		x.weigh(x.m, x.d, 1, &weights[4*x.m*whole], &x.last(buf, v[4*whole*x.d:n*x.d])[0], x.d, &acc[0], x.d)
	}
}

// join makes the attention of a head of what the ranges of its keys gave.
func (x *decode[T]) join(o []T, parts []decodePart[T], factor []T) {
	for i := range x.m {
		largest := T(math.Inf(-1))
		for _, p := range parts {
			largest = max(largest, p.max[i])
		}
		var sum T
		for j, p := range parts {
			factor[j] = T(math.Exp(float64((p.max[i] - largest) * x.scale)))
			sum += p.sum[i] * factor[j]
		}
		row := o[i*x.d:][:x.d]
		x.vec.scale.slice(row, parts[0].acc[i*x.d:][:x.d], nil, factor[0]/sum, 0)
		for j, p := range parts[1:] {
			for c, v := range p.acc[i*x.d:][:x.d] {
				row[c] += v * (factor[j+1] / sum)
			}
		}
	}
}

// qkT is scores = Q K^T.
func (x *decode[T]) qkT(mem []byte, workers int, q, k, scores []T) (func(w *worker), error) {
	scratch, _, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		buf := &scratch[w.id]
		x.each(w, func(_, h, lo, hi int) {
			queries, keys, to := head(q, h, x.m, x.d).data, head(k, h, x.sk, x.d).data, head(scores, h, x.m, x.sk).data
			for at := lo; at < hi; at += 4 * x.steps {
				n := min(4*x.steps, hi-at)
				whole := n / 4 * 4
				x.scores(buf, queries, keys[at*x.d:], whole, to[at:], x.sk, 4)
				if whole == n {
					continue
				}
				x.scores(buf, queries, keys[(at+whole)*x.d:], n-whole, buf.s, 4, 4*x.m)
				for i := range x.m {
					copy(to[i*x.sk+at+whole:][:n-whole], buf.s[4*i:])
				}
			}
		})
	}, nil
}

// pv is O = P V.
func (x *decode[T]) pv(mem []byte, workers int, p, v, o []T) (func(w *worker), error) {
	scratch, parts, err := x.newScratch(mem, workers)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		buf := &scratch[w.id]
		x.each(w, func(item, h, lo, hi int) {
			weights, values, acc := head(p, h, x.m, x.sk).data, head(v, h, x.sk, x.d).data, parts[item].acc
			if x.cuts == 1 {
				acc = head(o, h, x.m, x.d).data
			}
			clear(acc)
			for at := lo; at < hi; at += 4 * x.steps {
				n := min(4*x.steps, hi-at)
				x.inSteps(buf.s, weights[at:], x.sk, n)
				x.sum(buf, acc, values[at*x.d:], n, buf.s)
			}
		})
		if x.cuts == 1 {
			return
		}
		w.barrier()
		lo, hi := w.share(x.heads, 1)
		for h := lo; h < hi; h++ {
			total(head(o, h, x.m, x.d).data, parts[h*x.cuts:][:x.cuts])
		}
	}, nil
}

// total is the sum of what the ranges of keys gave.
func total[T float](o []T, parts []decodePart[T]) {
	clear(o)
	for _, part := range parts {
		for i, v := range part.acc {
			o[i] += v
		}
	}
}

// inSteps brings n weights of each query, in rows ld apart, in steps of four, with zeros
// behind the last.
func (x *decode[T]) inSteps(to, weights []T, ld, n int) {
	whole := n / 4
	for i := range x.m {
		row := weights[i*ld:][:n]
		for step := range whole {
			*(*[4]T)(to[(step*x.m+i)*4:]) = [4]T(row[4*step:])
		}
		if 4*whole < n {
			last := to[(whole*x.m+i)*4:][:4]
			clear(last[copy(last, row[4*whole:]):])
		}
	}
}

// weighPortable is the twin of tileSkinny: it adds to y[m x n] the product of x, packed
// as [steps][m][4], and of 4*steps rows of b.
func weighPortable[T float](m, n, steps int, x, b *T, ldb int, y *T, ldy int) {
	xs, bs, ys := unsafe.Slice(x, 4*steps*m), unsafe.Slice(b, (4*steps-1)*ldb+n), unsafe.Slice(y, (m-1)*ldy+n)
	for p := range 4 * steps {
		row := bs[p*ldb:][:n]
		for i := range m {
			to, f := ys[i*ldy:][:n], xs[(p/4*m+i)*4+p%4]
			for j, v := range row {
				to[j] += f * v
			}
		}
	}
}
