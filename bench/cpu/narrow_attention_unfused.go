package cpu

// qkT is what is seen of scores = Q K^T, or of Q K^T / sqrt(D) if scaled: a few tiles at a
// time are rounded while they are in L1.
func (x *narrowAttention) qkT(mem []byte, q, k, scores []uint16, scaled bool) (func(w *worker), error) {
	scratch, err := x.newScratch(mem)
	if err != nil {
		return nil, err
	}
	mr, nr := x.qkPlan.mr, x.qkPlan.nr
	few := x.few()
	return func(w *worker) {
		s := &scratch[w.id]
		x.blocks(w, func(h, panel, key, n int, fresh bool) {
			if fresh {
				x.packKeys(s, narrowHead(k, h/x.group, x.sk, x.d), key, min(x.keys, x.sk-key))
			}
			lo, hi := x.rows.rows(panel)
			x.qkPlan.packBlockA(s.q, narrowHead(q, h, x.sq, x.d), lo, hi-lo, 0, x.qkPlan.steps)
			for at := 0; at < n; at += few {
				to := min(n, at+few)
				x.scores(s, s.q, at, to, s.tiles, nr, mr*nr)
				for j := at; j < to; j += nr {
					tile := s.tiles[(j-at)*mr:][:(hi-lo)*nr]
					if scaled {
						x.vec.scale.slice(tile, tile, nil, x.scale, 0)
					}
					x.round(scores[(h*x.sq+lo)*x.sk+key+j:], x.sk, tile, nr, hi-lo, min(nr, x.sk-key-j))
				}
			}
		})
	}, nil
}

// pv is O = P V. What is not seen of P is taken for 0.
func (x *narrowAttention) pv(mem []byte, p, v, o []uint16) (func(w *worker), error) {
	scratch, err := x.newScratch(mem)
	if err != nil {
		return nil, err
	}
	return func(w *worker) {
		s := &scratch[w.id]
		x.blocks(w, func(h, panel, key, n int, fresh bool) {
			if fresh {
				x.packValues(s, narrowHead(v, h/x.group, x.sk, x.d), key, min(x.keys, x.sk-key))
			}
			lo, hi := x.rows.rows(panel)
			weights, acc := narrowHead(p, h, x.sq, x.sk), x.sums(s, h, panel)
			x.weigh(s, acc, key, n, func(at, steps int) {
				x.pvPlan.packBlockA(s.p, weights, lo, hi-lo, key/x.depth()+at, steps)
				x.hide(s.p, lo, hi, key+at*x.depth(), steps)
			})
			if key+n == x.seen(hi-1) {
				x.store(o, acc, h, lo, hi)
			}
		})
	}, nil
}

// hide clears in packed steps of rows [lo, hi) of P, from key on, what is not seen.
func (x *narrowAttention) hide(panel []byte, lo, hi, key, steps int) {
	depth := x.depth()
	for row := lo; row < hi; row++ {
		for j := max(0, x.seen(row)-key); j < steps*depth; {
			end := (j/depth + 1) * depth
			at := (j/depth*x.qkPlan.mr + row - lo) * stepBytes
			clear(panel[at+j%depth*x.qkPlan.size : at+stepBytes])
			j = end
		}
	}
}
