package cpu

import "math"

// qkTSoftmax is P = softmax(Q K^T / sqrt(D)) of a plan whose blocks have all keys. The
// whole rows of a panel are in L2.
func (x *narrowAttention) qkTSoftmax(mem []byte, q, k, p []uint16) (func(w *worker), error) {
	scratch, err := x.newScratch(mem)
	if err != nil {
		return nil, err
	}
	ld := x.ld()
	return func(w *worker) {
		s := &scratch[w.id]
		x.blocks(w, func(h, panel, _, n int, fresh bool) {
			if fresh {
				x.packKeys(s, narrowHead(k, h/x.group, x.sk, x.d), 0, n)
			}
			lo, hi := x.rows.rows(panel)
			x.qkPlan.packBlockA(s.q, narrowHead(q, h, x.sq, x.d), lo, hi-lo, 0, x.qkPlan.steps)
			x.scoreRows(s, s.q, n)
			x.vec.softmax(s.s, ld, s.s, ld, nil, 0, hi-lo, n, x.scale)
			x.half.round(&p[(h*x.sq+lo)*n], &s.s[0], n, ld, hi-lo, n)
		})
	}, nil
}

// full is O = softmax(Q K^T / sqrt(D)) V. Where a block does not have all keys it is an online
// softmax: of each query the maximum of the scores so far and the sum of the weights
// e^(score - maximum) are kept, and the sums of O are brought to each new maximum.
//
// The online softmax rounds weights to 16 bits before O is divided by their sum. The error is at most
// that of rounding after a division: the same relative one, or, below the normal numbers, the same
// absolute one divided by the sum, which is at least 1.
func (x *narrowAttention) full(mem []byte, q, k, v, o []uint16) (func(w *worker), error) {
	scratch, err := x.newScratch(mem)
	if err != nil {
		return nil, err
	}
	ld, panelQ, depth := x.ld(), x.qkPlan.panelA(x.qkPlan.steps), x.depth()
	online := x.keys < x.sk
	return func(w *worker) {
		s := &scratch[w.id]
		x.blocks(w, func(h, panel, key, n int, fresh bool) {
			if fresh {
				count := min(x.keys, x.sk-key)
				x.packKeys(s, narrowHead(k, h/x.group, x.sk, x.d), key, count)
				x.packValues(s, narrowHead(v, h/x.group, x.sk, x.d), key, count)
			}
			lo, hi := x.rows.rows(panel)
			place := x.place(h, panel)
			queries := s.q[place*panelQ:][:panelQ]
			p := onlineRows{first: lo, n: hi - lo, max: s.max[place*x.qkPlan.mr:], sum: s.sum[place*x.qkPlan.mr:], acc: x.sums(s, h, panel)}
			if key == 0 {
				x.qkPlan.packBlockA(queries, narrowHead(q, h, x.sq, x.d), lo, hi-lo, 0, x.qkPlan.steps)
				for i := range p.n {
					p.max[i], p.sum[i] = float32(math.Inf(-1)), 0
				}
			}
			x.scoreRows(s, queries, n)
			if online {
				x.normalise(s, p, key, n)
			} else {
				x.softmaxRows(s, p, n)
			}
			weights := as[uint16](s.p)
			x.weigh(s, p.acc, key, n, func(at, steps int) {
				for i := range steps {
					x.round(weights[i*x.qkPlan.mr*depth:], depth, s.s[(at+i)*depth:], ld, p.n, depth)
				}
			})
			if key+n == x.seen(hi-1) {
				if online {
					for i, sum := range p.sum[:p.n] {
						s.factor[i] = 1 / sum
					}
					x.multiplyRows(p, s.factor)
				}
				x.store(o, p.acc, h, lo, hi)
			}
		})
	}, nil
}

// softmaxRows turns the scores of all n keys into weights that are divided already, 0 where a query
// does not see the key and in the rest of the last step.
func (x *narrowAttention) softmaxRows(s *narrowAttentionScratch, p onlineRows, n int) {
	ld, end := x.ld(), ceilDiv(n, x.depth())*x.depth()
	rows := p.n // with the same keys
	if x.seen(p.first) < n {
		rows = 1
	}
	for i := 0; i < p.n; i += rows {
		from := s.s[i*ld:]
		x.vec.softmax(from, ld, from, ld, nil, 0, rows, min(x.seen(p.first+i), n), x.scale)
	}
	for i := range p.n {
		clear(s.s[i*ld:][min(x.seen(p.first+i), n):end])
	}
}

// onlineRows is a panel of n queries on its way: the maxima and sums, and tiles of O.
type onlineRows struct {
	first, n      int
	max, sum, acc []float32
}

// normalise turns the scores of n keys from key on into weights, 0 where a query does not
// see the key and in the rest of the last step, and brings what the keys before have
// given to the new maxima.
func (x *narrowAttention) normalise(s *narrowAttentionScratch, p onlineRows, key, n int) {
	const lanes = softmaxLanes
	rows, moved := ceilDiv(n, lanes), false
	l := s.lanes
	for i := range p.n {
		row := s.s[i*x.ld():][:rows*lanes]
		for j := clamp(x.seen(p.first+i)-key, 0, n); j < len(row); j++ {
			row[j] = float32(math.Inf(-1))
		}
		l.max = [lanes]float32(row)
		x.vec.colMax(&l.max[0], &row[0], lanes, rows, lanes)
		largest := max(p.max[i], l.largest())
		s.factor[i] = 1
		if p.sum[i] > 0 && largest > p.max[i] {
			s.factor[i] = float32(math.Exp(float64((p.max[i] - largest) * x.scale)))
			moved = true
		}
		p.max[i] = largest
		l.begin(-largest * x.scale)
		x.vec.colExpSum(&row[0], &row[0], &l.shift[0], &l.sum[0], lanes, rows, lanes, x.scale)
		p.sum[i] = p.sum[i]*s.factor[i] + l.total()
	}
	if moved {
		x.multiplyRows(p, s.factor)
	}
}

// softmaxLanes is the number of columns that the column kernels work on at full speed.
const softmaxLanes = 32

// rowLanes are what a row gives that is seen as a matrix of so many columns.
type rowLanes struct{ max, shift, sum [softmaxLanes]float32 }

func (l *rowLanes) largest() float32 {
	a, b := l.max[0], l.max[1]
	for j := 2; j < len(l.max); j += 2 {
		if l.max[j] > a {
			a = l.max[j]
		}
		if l.max[j+1] > b {
			b = l.max[j+1]
		}
	}
	return max(a, b)
}

func (l *rowLanes) begin(shift float32) {
	for j := range l.shift {
		l.shift[j] = shift
	}
	l.sum = [softmaxLanes]float32{}
}

func (l *rowLanes) total() float32 {
	var a, b, c, d float32
	for j := 0; j < len(l.sum); j += 4 {
		a, b, c, d = a+l.sum[j], b+l.sum[j+1], c+l.sum[j+2], d+l.sum[j+3]
	}
	return a + b + (c + d)
}

// multiplyRows multiplies the sums of O of each query by a factor of its own.
func (x *narrowAttention) multiplyRows(p onlineRows, factor []float32) {
	nr, tile := x.qkPlan.nr, x.qkPlan.mr*x.qkPlan.nr
	for j := range x.columns() {
		acc := p.acc[j*tile:][:tile]
		x.vec.affineRows(&acc[0], &acc[0], &factor[0], &x.zeros[0], nr, nr, p.n, nr, cached)
	}
}
