package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var attentionShapes = []attentionShape{
	{1, 1, 1, 1, 1, false}, {2, 33, 17, 5, 1, false}, {3, 64, 130, 64, 1, false}, {1, 65, 300, 64, 1, false}, {2, 31, 129, 80, 1, false}, {1, 100, 1, 3, 1, false}, {5, 14, 30, 16, 1, false}, {1, 47, 513, 24, 1, false},
}

// causalShapes: squares, chunks of a longer sequence, one query and one key; without
// groups, with, and all heads in one. The diagonal crosses tiles, panels and blocks.
var causalShapes = []attentionShape{
	{1, 1, 1, 1, 1, true}, {2, 33, 33, 5, 1, true}, {3, 64, 130, 64, 3, true}, {1, 65, 300, 64, 1, true}, {4, 31, 31, 80, 2, true},
	{1, 1, 100, 3, 1, true}, {6, 14, 30, 16, 3, true}, {2, 47, 1100, 24, 2, true}, {1, 150, 150, 33, 1, true},
}

// decodeShapes: one key, less than a step of keys, less and more than a block; one
// query, as many as a group of the kernels has, and others.
var decodeShapes = []attentionShape{
	{1, 1, 1, 1, 1, false}, {2, 1, 3, 5, 1, false}, {4, 1, 37, 64, 4, false}, {6, 1, 1030, 33, 2, false}, {3, 1, 260, 128, 3, false},
	{5, 1, 2100, 16, 5, false}, {8, 1, 129, 80, 8, false}, {64, 1, 50, 7, 32, false}, {1, 1, 4099, 17, 1, false},
}

func TestAttention(t *testing.T) {
	eachAttention(t, attentionShapes, testAttention[float32], testAttention[float64])
}
func TestCausalAttention(t *testing.T) {
	eachAttention(t, causalShapes, testCausal[float32], testCausal[float64])
}
func TestDecode(t *testing.T) {
	eachAttention(t, decodeShapes, testDecode[float32], testDecode[float64])
}

func eachAttention(t *testing.T, shapes []attentionShape, tests ...func(t *testing.T, isa ISA, tm *team, s attentionShape)) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, workers := range oneAnd(3) {
			tm := newTestTeam(t, workers)
			for _, s := range shapes {
				t.Run(fmt.Sprintf("%dx%dx%dx%d by %d on %d", s.heads, s.sq, s.sk, s.d, s.group, workers), func(t *testing.T) {
					for _, test := range tests {
						test(t, isa, tm, s)
					}
				})
			}
		}
	})
}

// attentionWant is the reference in float64, with bounds of the errors of a
// kernel of element type T.
type attentionWant struct{ scores, scoresBound, p, pBound, o, oBound []float64 }

// Bounds: a score errs by gamma_d times the products of magnitudes, and by its scaling
// (factor and product rounded). The exponent s - max takes twice the largest
// such error and its own rounding; p takes that, the error of exp, those of
// numerator and denominator, the sum over sk, and for every block of the online
// softmax (at most sk of them) a rescaling.
func wantAttention[T float](s attentionShape, q, k, v []T) attentionWant {
	w := attentionWant{
		scores: make([]float64, s.heads*s.sq*s.sk), p: make([]float64, s.heads*s.sq*s.sk), o: make([]float64, s.heads*s.sq*s.d),
		scoresBound: make([]float64, s.heads*s.sq*s.sk), pBound: make([]float64, s.heads*s.sq*s.sk), oBound: make([]float64, s.heads*s.sq*s.d),
	}
	scale, u := 1/math.Sqrt(float64(s.d)), gamma[T](1)
	for row := range s.heads * s.sq {
		h, seen := row/s.sq/s.group, s.seen(row%s.sq)
		scores, bounds := w.scores[row*s.sk:][:seen], w.scoresBound[row*s.sk:][:seen]
		largest, span, worst := math.Inf(-1), 0.0, 0.0
		for j := range scores {
			for i := range s.d {
				product := float64(q[row*s.d+i]) * float64(k[(h*s.sk+j)*s.d+i])
				scores[j] += product * scale
				bounds[j] += math.Abs(product) * scale
			}
			bounds[j] *= gamma[T](s.d + 2)
			largest = math.Max(largest, scores[j])
			span = math.Max(span, math.Abs(scores[j]))
			worst = math.Max(worst, bounds[j])
		}
		sum := 0.0
		p := w.p[row*s.sk:][:seen]
		for j, x := range scores {
			p[j] = math.Exp(x - largest)
			sum += p[j]
		}
		relative := 2*(2*worst+4*span*u+expUlps*u) + gamma[T](s.sk+3)
		rescaling := float64(s.sk/8+1) * (expUlps + 2) * u
		for j := range p {
			p[j] /= sum
			w.pBound[row*s.sk+j] = relative * p[j]
			for i := range s.d {
				x := float64(v[(h*s.sk+j)*s.d+i])
				w.o[row*s.d+i] += p[j] * x
				w.oBound[row*s.d+i] += (relative + 2*rescaling + gamma[T](s.sk+3)) * p[j] * math.Abs(x)
			}
		}
	}
	return w
}

// attentionTensors are random inputs, results that hold random values, and what is
// wanted of the results.
type attentionTensors[T float] struct {
	t                     *testing.T
	what                  string
	q, k, v, scores, p, o []T
	want                  attentionWant
}

func newAttentionTensors[T float](t *testing.T, isa ISA, s attentionShape) *attentionTensors[T] {
	r := rand.New(rand.NewPCG(9, 10))
	random := func(n int) []T {
		x := guardedOne[T](t, n, n%2 == 0)
		fillRandom(r, x, 1, n, n)
		return x
	}
	x := &attentionTensors[T]{t: t, what: fmt.Sprintf("cpu: %s %T %+v", isa, T(0), s)}
	keys := s.heads / s.group * s.sk * s.d
	x.q, x.k, x.v, x.o = random(s.heads*s.sq*s.d), random(keys), random(keys), random(s.heads*s.sq*s.d)
	x.scores, x.p = random(s.heads*s.sq*s.sk), random(s.heads*s.sq*s.sk)
	x.want = wantAttention(s, x.q, x.k, x.v)
	return x
}

// check compares what has a meaning: where nothing is wanted, anything may be.
func (x *attentionTensors[T]) check(name string, got []T, want, bound []float64) {
	x.t.Helper()
	for i, w := range want {
		if e := math.Abs(float64(got[i]) - w); bound[i] > 0 && !(e <= bound[i]) {
			x.t.Fatalf("%s %s: [%d] = %g, want %g +- %g", x.what, name, i, got[i], w, bound[i])
		}
	}
}

// forget has every result that is not written anew show.
func (x *attentionTensors[T]) forget() {
	for _, y := range [][]T{x.scores, x.p, x.o} {
		for i := range y {
			y[i] = T(math.NaN())
		}
	}
}

// must runs a kernel that could be bound.
func (x *attentionTensors[T]) must(tm *team) func(f func(w *worker), err error) {
	return func(f func(w *worker), err error) {
		x.t.Helper()
		if err != nil {
			x.t.Fatal(err)
		}
		tm.run(f)
	}
}

func newTestAttention[T float](t *testing.T, isa ISA, tm *team, s attentionShape) (*attention[T], []byte) {
	a, err := newAttention[T](isa, cacheSizes{}, len(tm.workers), s)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := a.scratchBytes()
	if err != nil {
		t.Fatal(err)
	}
	mem, _ := guardedBytes(t, int(bytes))
	return a, mem
}

func testAttention[T float](t *testing.T, isa ISA, tm *team, s attentionShape) {
	a, mem := newTestAttention[T](t, isa, tm, s)
	x := newAttentionTensors[T](t, isa, s)
	w, must := x.want, x.must(tm)
	for range 2 { // scratch holds old values the second time
		must(a.qkT(mem, x.q, x.k, x.scores))
		tm.run(a.scaleScores(x.scores, x.scores))
		x.check("qkT, scaled", x.scores, w.scores, w.scoresBound)
		tm.run(a.softmax(x.p, x.scores))
		x.check("softmax", x.p, w.p, w.pBound)
		must(a.pv(mem, x.p, x.v, x.o))
		x.check("pv", x.o, w.o, w.oBound)
		x.forget()
		must(a.qkTScale(mem, x.q, x.k, x.scores))
		x.check("qkTScale", x.scores, w.scores, w.scoresBound)
		must(a.qkTSoftmax(mem, x.q, x.k, x.p))
		x.check("qkTSoftmax", x.p, w.p, w.pBound)
		must(a.full(mem, x.q, x.k, x.v, x.o))
		x.check("full", x.o, w.o, w.oBound)
		x.forget()
	}
}

// What is not seen is NaN, and must not come into the result.
func testCausal[T float](t *testing.T, isa ISA, tm *team, s attentionShape) {
	a, mem := newTestAttention[T](t, isa, tm, s)
	x := newAttentionTensors[T](t, isa, s)
	w, c, must := x.want, a.newCausal(), x.must(tm)
	for range 2 {
		x.forget()
		must(c.qkT(mem, x.q, x.k, x.scores))
		tm.run(func(w *worker) {
			eachPanel[T](c, w, func(at, m, _, n int) {
				a.vec.scale(&x.scores[at], &x.scores[at], nil, s.sk, s.sk, 0, m, n, a.scale, 0, cached)
			})
		})
		x.check("causal qkT, scaled", x.scores, w.scores, w.scoresBound)
		tm.run(func(w *worker) {
			eachPanel[T](c, w, func(at, m, seen, _ int) {
				for i := range m {
					a.vec.softmax(x.p[at+i*s.sk:], 0, x.scores[at+i*s.sk:], 0, nil, 0, 1, seen+i, 1)
				}
			})
		})
		x.check("causal softmax", x.p, w.p, w.pBound)
		must(c.pv(mem, x.p, x.v, x.o))
		x.check("causal pv", x.o, w.o, w.oBound)
		x.forget()
		must(a.full(mem, x.q, x.k, x.v, x.o))
		x.check("causal full", x.o, w.o, w.oBound)
	}
}

func testDecode[T float](t *testing.T, isa ISA, tm *team, s attentionShape) {
	workers := len(tm.workers)
	d, err := newDecode[T](isa, cacheSizes{}, workers, s)
	if err != nil {
		t.Fatal(err)
	}
	mem, _ := guardedBytes(t, int(d.scratchBytes(workers)))
	x := newAttentionTensors[T](t, isa, s)
	w, must := x.want, x.must(tm)
	for range 2 {
		x.forget()
		must(d.qkT(mem, workers, x.q, x.k, x.scores))
		vec := vecKernelsFor[T](isa)
		vec.scale.slice(x.scores, x.scores, nil, d.scale, 0)
		x.check("decode qkT, scaled", x.scores, w.scores, w.scoresBound)
		vec.softmax(x.p, s.sk, x.scores, s.sk, nil, 0, s.heads, s.sk, 1)
		must(d.pv(mem, workers, x.p, x.v, x.o))
		x.check("decode pv", x.o, w.o, w.oBound)
		x.forget()
		must(d.full(mem, workers, x.q, x.k, x.v, x.o))
		x.check("decode full", x.o, w.o, w.oBound)
	}
}

// The shares cover all blocks in order, and that of no worker sees more keys than the
// mean by more than a block does.
func TestSharesOfCausalAttention(t *testing.T) {
	for _, s := range append(causalShapes, attentionShapes...) {
		for _, workers := range []int{1, 2, 3, 7} {
			const rows = 14
			blocks := ceilDiv(s.sq, rows)
			keys := func(from, to int) (n int) {
				for i := from; i < to; i++ {
					n += s.seen(min((i%blocks+1)*rows, s.sq) - 1)
				}
				return n
			}
			shares := s.shares(workers, rows)
			if len(shares) != workers+1 || shares[0] != 0 || shares[workers] != s.heads*blocks {
				t.Fatalf("%+v: shares %v of %d blocks", s, shares, s.heads*blocks)
			}
			for w := range workers {
				if got, mean := keys(shares[w], shares[w+1]), keys(0, s.heads*blocks)/workers; got > mean+s.sk {
					t.Errorf("%+v: worker %d of %v sees %d keys, the mean is %d", s, w, shares, got, mean)
				}
			}
		}
	}
}

func TestAttentionRefusesShapes(t *testing.T) {
	for _, s := range []attentionShape{{0, 1, 1, 1, 1, false}, {3, 1, 1, 1, 2, false}, {1, 3, 2, 1, 1, true}, {1, 1, 1, 1, 0, false}} {
		if _, err := newAttention[float32](Portable, cacheSizes{}, 1, s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// TestAttentionOfLargeScores has a maximum that grows from block to block.
func TestAttentionOfLargeScores(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		tm := newTestTeam(t, 1)
		s := attentionShape{1, 20, 700, 8, 1, false}
		a, err := newAttention[float32](isa, cacheSizes{}, 1, s)
		if err != nil {
			t.Fatal(err)
		}
		q, k, v := make([]float32, s.sq*s.d), make([]float32, s.sk*s.d), make([]float32, s.sk*s.d)
		for i := range q {
			q[i] = 16
		}
		for i := range k {
			k[i], v[i] = float32(i/s.d), float32(i/s.d)
		}
		bytes, err := a.scratchBytes()
		if err != nil {
			t.Fatal(err)
		}
		o := make([]float32, s.sq*s.d)
		f, err := a.full(make([]byte, bytes), q, k, v, o)
		if err != nil {
			t.Fatal(err)
		}
		// Neighbouring scores are 16 sqrt(8) apart: the last key takes all.
		tm.run(f)
		for i, x := range o {
			if e := math.Abs(float64(x) - 699); !(e <= 699*gamma[float32](s.sk)) {
				t.Fatalf("cpu: %s full: o[%d] = %g, want 699", isa, i, x)
			}
		}
	})
}

// scaleScores is dst = src / sqrt(D), over all scores.
func (a *attention[T]) scaleScores(dst, src []T) func(w *worker) {
	return func(w *worker) {
		lo, hi := w.share(a.heads*a.sq*a.sk, 1024)
		a.vec.scale.slice(dst[lo:hi], src[lo:hi], nil, a.scale, 0)
	}
}

// softmax is P = softmax(scores) over rows of sk.
func (a *attention[T]) softmax(p, scores []T) func(w *worker) {
	return func(w *worker) {
		lo, hi := w.share(a.heads*a.sq, 1)
		a.vec.softmax(p[lo*a.sk:], a.sk, scores[lo*a.sk:], a.sk, nil, 0, hi-lo, a.sk, 1)
	}
}
