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

func TestAttention(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, workers := range []int{1, 3} {
			tm := newTestTeam(t, workers)
			for _, s := range attentionShapes {
				t.Run(fmt.Sprintf("%dx%dx%dx%d on %d", s.heads, s.sq, s.sk, s.d, workers), func(t *testing.T) {
					testAttention[float32](t, isa, tm, s)
					testAttention[float64](t, isa, tm, s)
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
		h := row / s.sq
		scores, bounds := w.scores[row*s.sk:][:s.sk], w.scoresBound[row*s.sk:][:s.sk]
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
		p := w.p[row*s.sk:][:s.sk]
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

func testAttention[T float](t *testing.T, isa ISA, tm *team, s attentionShape) {
	a, err := newAttention[T](isa, cacheSizes{}, len(tm.workers), s)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 10))
	random := func(n int) []T {
		x := guardedOne[T](t, n, n%2 == 0)
		fillRandom(r, x, 1, n, n)
		return x
	}
	q, k, v := random(s.heads*s.sq*s.d), random(s.heads*s.sk*s.d), random(s.heads*s.sk*s.d)
	scores, p := random(s.heads*s.sq*s.sk), random(s.heads*s.sq*s.sk)
	o := random(s.heads * s.sq * s.d)
	bytes, err := a.scratchBytes()
	if err != nil {
		t.Fatal(err)
	}
	mem, _ := guardedBytes(t, int(bytes))
	want := wantAttention(s, q, k, v)
	check := func(name string, got []T, want, bound []float64) {
		t.Helper()
		for i, w := range want {
			if e := math.Abs(float64(got[i]) - w); !(e <= bound[i]) {
				t.Fatalf("cpu: %s %T %s %+v: [%d] = %g, want %g +- %g", isa, got[i], name, s, i, got[i], w, bound[i])
			}
		}
	}
	bound := func(f func(w *worker), err error) func(w *worker) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for range 2 { // scratch holds old values the second time
		tm.run(bound(a.qkT(mem, q, k, scores)))
		tm.run(a.scaleScores(scores, scores))
		check("qkT, scaled", scores, want.scores, want.scoresBound)
		tm.run(a.softmax(p, scores))
		check("softmax", p, want.p, want.pBound)
		tm.run(bound(a.pv(mem, p, v, o)))
		check("pv", o, want.o, want.oBound)
		for _, x := range [][]T{scores, p, o} {
			for i := range x {
				x[i] = T(math.NaN())
			}
		}
		tm.run(bound(a.qkTScale(mem, q, k, scores)))
		check("qkTScale", scores, want.scores, want.scoresBound)
		tm.run(bound(a.qkTSoftmax(mem, q, k, p)))
		check("qkTSoftmax", p, want.p, want.pBound)
		tm.run(bound(a.full(mem, q, k, v, o)))
		check("full", o, want.o, want.oBound)
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
	return newSoftmax(a.isa, p, scores, a.heads*a.sq, a.sk)
}
