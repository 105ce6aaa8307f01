package ref

import (
	"math"
	"math/rand/v2"
	"testing"
)

// single is the arithmetic of an implementation in float32.
var single = Precision{U: 0x1p-24}

// random is a field of normal values that float32 holds exactly.
func random(seed uint64, n int) ([]float32, Field) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x, Exact(func(i int64) float64 { return float64(x[i]) })
}

// within checks float32 results: each must lie within the bound, and the bound must
// not be so wide that it says nothing.
func within(t *testing.T, name string, got []float32, want Field, widest float64) {
	t.Helper()
	for i, g := range got {
		w := want(int64(i))
		if diff := math.Abs(float64(g) - w.V); !(diff <= w.E) {
			t.Errorf("%s[%d] = %g, want %g +- %.2g", name, i, g, w.V, w.E)
			return
		}
		if w.E > widest {
			t.Errorf("%s[%d]: bound %.2g is wider than %.2g", name, i, w.E, widest)
			return
		}
	}
}

func TestGemmByHand(t *testing.T) {
	x := Exact(func(i int64) float64 { return []float64{1, 2, 3, 4, 5, 6}[i] })    // 2x3
	w := Exact(func(i int64) float64 { return []float64{7, 8, 9, 10, 11, 12}[i] }) // 3x2
	y := Gemm(x, w, 2, 3, single)
	for i, want := range []float64{58, 64, 139, 154} {
		if got := y(int64(i)).V; got != want {
			t.Errorf("y[%d] = %g, want %g", i, got, want)
		}
	}
}

// Linear with bias and GELU, computed in float32 in the plain way.
func TestLinearChainBound(t *testing.T) {
	const m, n, k = 5, 7, 300
	x, fx := random(1, m*k)
	w, fw := random(2, k*n)
	b, fb := random(3, n)
	y := make([]float32, m*n)
	for i := range m {
		for j := range n {
			var sum float32
			for p := range k {
				sum += x[i*k+p] * w[p*n+j]
			}
			v := sum + b[j]
			y[i*n+j] = v / 2 * (1 + float32(math.Erf(float64(v/math.Sqrt2))))
		}
	}
	want := GELU(Bias(Gemm(fx, fw, n, k, single), fb, n, single), single)
	within(t, "gelu(xw+b)", y, want, 0.05)
}

// A bound on a result that is stored in 8 bits of significand covers the largest error
// of the rounding, that of the middle between two numbers, and hardly more.
func TestRoundingIsTight(t *testing.T) {
	r := Rounding{U: 0x1p-8, Tiny: 0x1p-126}
	for _, v := range []float64{1 + 0x1p-8, -3 - 0x1p-7, 0x1p100 + 0x1p92} {
		spacing := math.Ldexp(0x1p-7, int(math.Floor(math.Log2(math.Abs(v)))))
		if e := r.Round(Exact(func(int64) float64 { return v }))(0).E; e < spacing/2 || e > 1.01*spacing {
			t.Errorf("%g +- %g, where numbers are %g apart", v, e, spacing)
		}
	}
}

// A layer whose steps are each stored in 16 bits, and one that is stored at the end
// alone, both lie within the bound of the former.
func TestStoredChainBound(t *testing.T) {
	const m, n, k = 5, 7, 300
	x, fx := random(1, m*k)
	w, fw := random(2, k*n)
	b, fb := random(3, n)
	p := single
	p.Stored = Rounding{U: 0x1p-8, Tiny: 0x1p-126}
	stored := func(v float32) float32 { // as bf16
		bits := math.Float32bits(v)
		return math.Float32frombits((bits + 0x7fff + bits>>16&1) &^ 0xffff)
	}
	kept := func(v float32) float32 { return v }
	for _, step := range []func(float32) float32{stored, kept} {
		y := make([]float32, m*n)
		for i := range y {
			var sum float32
			for p := range k {
				sum += x[i/n*k+p] * w[p*n+i%n]
			}
			v := step(step(sum) + b[i%n])
			y[i] = stored(v / 2 * (1 + float32(math.Erf(float64(v/math.Sqrt2)))))
		}
		gemm := p.Stored.Round(Gemm(fx, fw, n, k, p))
		bias := p.Stored.Round(Bias(gemm, fb, n, p))
		within(t, "stored gelu(xw+b)", y, p.Stored.Round(GELU(bias, p)), 1.5)
	}
}

// What cannot be rounded to another integer is exact; what fp32 may move across the
// middle may be either.
func TestRequantize(t *testing.T) {
	sums := []float64{3, 5, 6, -1000, 1000, 1 << 25}
	x := Exact(func(i int64) float64 { return sums[i] })
	scale := Exact(func(i int64) float64 { return []float64{0.5, 0.5, 0.6, 1, 1, 0x1p-25 * 2.5}[i] })
	for i, want := range []Num{{V: 2, E: 1}, {V: 2, E: 1}, {V: 4}, {V: -127}, {V: 127}, {V: 2, E: 1}} {
		if got := Requantize(x, scale, 6, 1, 1, single)(int64(i)); got != want {
			t.Errorf("%g becomes %+v, want %+v", sums[i], got, want)
		}
	}
}

// A sum that begins with the bias, or with what batch norm adds, lies within the bound even where
// both are much larger than its products; a sum that is done may not be off by as much.
func TestBiasFirstBound(t *testing.T) {
	const k, small = 1000, 1e-4
	product := Exact(func(int64) float64 { return small })
	one := Exact(func(int64) float64 { return 1 })
	norm := func(x Field) Field {
		return BatchNorm(x, one, Exact(func(int64) float64 { return 2 }), one, Exact(func(int64) float64 { return 1 - 1e-5 }), 1, 1, 1e-5, single)
	}
	sum := float32(1)
	for range k {
		sum += small
	}
	for name, add := range map[string]func(x Field) Field{
		"channel bias": func(x Field) Field { return ChannelBias(x, one, 1, 1, single) },
		"batch norm":   norm,
	} {
		conv := Conv2d(product, one, nil, Conv2dShape{N: 1, C: k, H: 1, W: 1, K: 1, R: 1, S: 1, Stride: 1, Groups: 1}, single)
		want := add(conv)(0)
		if off := math.Abs(float64(sum) - want.V); off > want.E {
			t.Errorf("%s first: %g, want %g +- %g", name, sum, want.V, want.E)
		}
		apart := add(func(int64) Num { return Num{V: conv(0).V} })(0)
		if off := math.Abs(float64(sum) - apart.V); off <= apart.E {
			t.Errorf("%s of a number: %g is within %g +- %g", name, sum, apart.V, apart.E)
		}
	}
}

// A convolution with stride, padding and groups; batch norm applied behind it and
// folded into it must both lie within the bound.
func TestConvBatchNormBound(t *testing.T) {
	s := Conv2dShape{N: 2, C: 4, H: 6, W: 5, K: 6, R: 3, S: 3, Stride: 2, Pad: 1, Groups: 2}
	x, fx := random(4, int(s.N*s.C*s.H*s.W))
	w, fw := random(5, int(s.K*s.C/s.Groups*s.R*s.S))
	b, fb := random(6, int(s.K))
	gamma, fgamma := random(7, int(s.K))
	beta, fbeta := random(8, int(s.K))
	mean, fmean := random(9, int(s.K))
	variance := make([]float32, s.K)
	for i := range variance {
		variance[i] = 0.5 + float32(i)/4
	}
	fvar := Exact(func(i int64) float64 { return float64(variance[i]) })
	const eps = 1e-5
	direct := func(n, k, p, q int64, scale float32, bias float32) float32 {
		sum := bias
		cg := s.C / s.Groups
		for c := range cg {
			for r := range s.R {
				for t := range s.S {
					y, z := p*s.Stride+r-s.Pad, q*s.Stride+t-s.Pad
					if y >= 0 && y < s.H && z >= 0 && z < s.W {
						in := x[((n*s.C+k/(s.K/s.Groups)*cg+c)*s.H+y)*s.W+z]
						sum += in * (w[((k*cg+c)*s.R+r)*s.S+t] * scale)
					}
				}
			}
		}
		return sum
	}
	P, Q := s.P(), s.Q()
	var plain, behind, folded []float32
	for n := range s.N {
		for k := range s.K {
			f := float32(float64(gamma[k]) / math.Sqrt(float64(variance[k])+eps))
			for p := range P {
				for q := range Q {
					v := direct(n, k, p, q, 1, b[k])
					plain = append(plain, v)
					behind = append(behind, (v-mean[k])*f+beta[k])
					folded = append(folded, direct(n, k, p, q, f, (b[k]-mean[k])*f+beta[k]))
				}
			}
		}
	}
	conv := Conv2d(fx, fw, fb, s, single)
	norm := BatchNorm(conv, fgamma, fbeta, fmean, fvar, s.K, P*Q, eps, single)
	within(t, "conv", plain, conv, 1e-3)
	within(t, "batch norm behind", behind, norm, 1e-3)
	within(t, "batch norm folded", folded, norm, 1e-3)
}

// What a folded weight loses when it is stored, in the middle between two numbers of bf16
// or below those of fp16, is within the bound, and hardly more is.
func TestFoldedWeightBound(t *testing.T) {
	for _, c := range []struct {
		w, gamma, variance, lost float64
		stored                   Rounding
	}{
		{1 + 0x1p-8, 1, 1, 0x1p-8, Rounding{U: 0x1p-8, Tiny: 0x1p-126}},
		{-2 - 0x1p-7, 8, 4, 0x1p-7, Rounding{U: 0x1p-8, Tiny: 0x1p-126}},
		{0.99 * 0x1p-15, 0x1p-10, 1, 0.99 * 0x1p-15, Rounding{U: 0x1p-11, Tiny: 0x1p-25}}, // becomes 0
		{1, 0, 1, 0, Rounding{U: 0x1p-8, Tiny: 0x1p-126}},
	} {
		one := func(v float64) Field { return Exact(func(int64) float64 { return v }) }
		got := FoldBatchNorm(one(c.w), one(c.gamma), one(c.variance), 1, 0, c.stored)(0)
		if got.V != c.w || got.E < c.lost || got.E > 1.02*c.lost {
			t.Errorf("%g gamma=%g: %+v, want %g lost", c.w, c.gamma, got, c.lost)
		}
	}
}

// Attention in float32, with the softmax subtracting the maximum, and online in
// two halves without ever seeing a whole row.
func TestAttentionBound(t *testing.T) {
	const sq, sk, d = 3, 40, 16
	scale := 1 / math.Sqrt(d)
	q, fq := random(10, sq*d)
	k, fk := random(11, sk*d)
	v, fv := random(12, sk*d)
	exp := func(x float32) float32 { return float32(math.Exp(float64(x))) }
	var whole, online []float32
	for i := range sq {
		score := make([]float32, sk)
		largest := float32(math.Inf(-1))
		for j := range sk {
			for p := range d {
				score[j] += q[i*d+p] * k[j*d+p]
			}
			score[j] *= float32(scale)
			largest = max(largest, score[j])
		}
		sum, acc := float32(0), make([]float32, d)
		for j := range sk {
			sum += exp(score[j] - largest)
		}
		for j := range sk {
			for p := range d {
				acc[p] += exp(score[j]-largest) / sum * v[j*d+p]
			}
		}
		whole = append(whole, acc...)

		top, total, out := float32(math.Inf(-1)), float32(0), make([]float32, d)
		for from := 0; from < sk; from += sk / 2 {
			newTop := top
			for _, x := range score[from : from+sk/2] {
				newTop = max(newTop, x)
			}
			shrink := exp(top - newTop)
			total *= shrink
			for p := range out {
				out[p] *= shrink
			}
			for j := from; j < from+sk/2; j++ {
				e := exp(score[j] - newTop)
				total += e
				for p := range out {
					out[p] += e * v[j*d+p]
				}
			}
			top = newTop
		}
		for p := range out {
			online = append(online, out[p]/total)
		}
	}
	weights := Softmax(Scale(BatchedGemmT(fq, fk, sq, sk, d, single), scale, single), sk, single)
	for r := range int64(sq) {
		sum := 0.0
		for j := range int64(sk) {
			sum += weights(r*sk + j).V
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("weights of row %d add up to %g", r, sum)
		}
	}
	want := BatchedGemm(weights, fv, sq, d, sk, single)
	within(t, "attention", whole, want, 1e-3)
	within(t, "online attention", online, want, 1e-3)
}

// Layer norm of a sum in float32, by the deviations from the mean, for rows far from 0
// too, where digits cancel.
func TestLayerNormBound(t *testing.T) {
	const m, n, eps = 4, 200, 1e-5
	x, fx := random(13, m*n)
	z, fz := random(14, m*n)
	gamma, fgamma := random(15, n)
	beta, fbeta := random(16, n)
	for _, far := range []float32{0, 100} {
		for i := range z {
			z[i] += far
		}
		var y []float32
		for i := range m {
			row := make([]float32, n)
			var sum, squares float32
			for j := range row {
				row[j] = x[i*n+j] + z[i*n+j]
				sum += row[j]
			}
			mean := sum / n
			for _, v := range row {
				squares += (v - mean) * (v - mean)
			}
			r := 1 / float32(math.Sqrt(float64(squares/n)+eps))
			for j, v := range row {
				y = append(y, (v-mean)*r*gamma[j]+beta[j])
			}
		}
		within(t, "layer norm", y, LayerNorm(Add(fx, fz, single), fgamma, fbeta, n, eps, single), 2e-4*float64(1+far))
	}
}

// SwiGLU: the product of a gate and a value, each with an error of its own.
func TestGateBound(t *testing.T) {
	const n = 500
	x, fx := random(17, n)
	b, fb := random(18, n)
	y := make([]float32, n)
	for i := range y {
		gate, value := x[i]+b[i], x[i]*b[i]
		y[i] = gate / (1 + float32(math.Exp(-float64(gate)))) * value
	}
	sum, product := Add(fx, fb, single), Mul(fx, fb, single)
	within(t, "silu(x+b) xb", y, Mul(SiLU(sum, single), product, single), 1e-4)
}

// One in ten is dropped, within five standard deviations, and a seed gives other
// elements; the first numbers are those of the generator by hand.
func TestDropout(t *testing.T) {
	const n, share = 100000, 0.1
	least := uint32(math.Round(share * (1 << 31)))
	ones := Exact(func(int64) float64 { return 1 })
	y, other := Dropout(ones, 1, least, 2, single), Dropout(ones, 2, least, 2, single)
	dropped, same := 0, 0
	for i := range int64(n) {
		switch v := y(i).V; {
		case v == 0:
			dropped++
			if other(i).V == 0 {
				same++
			}
		case v != 2:
			t.Fatalf("y[%d] = %g, want 0 or 2", i, v)
		}
	}
	for what, c := range map[string]struct {
		got  int
		want float64
	}{"dropped": {dropped, share}, "dropped by both seeds": {same, share * share}} {
		if mean, sd := n*c.want, math.Sqrt(n*c.want*(1-c.want)); math.Abs(float64(c.got)-mean) > 5*sd {
			t.Errorf("%s: %d of %d, want %.0f +- %.0f", what, c.got, n, mean, 5*sd)
		}
	}
	// The finaliser of MurmurHash3 gives 0x514e28b7 for 1, and 0x30f4c306 for 2.
	for h, want := range map[uint32]uint32{1: 0x514e28b7, 2: 0x30f4c306} {
		if got := random31(h-0x9e3779b9, 0); got != want>>1 {
			t.Errorf("random number of counter %d: %#x, want %#x", h, got, want>>1)
		}
	}
}

// A row of causal scores is the softmax of those that are seen, and 0 behind: of 3 rows
// of 5 elements the first sees 3.
func TestCausalSoftmax(t *testing.T) {
	const m, n = 3, 5
	_, x := random(13, 2*m*n)
	y := CausalSoftmax(x, m, n, single)
	for r := range int64(2 * m) {
		seen := r%m + 3
		want := Softmax(func(j int64) Num { return x(r*n + j) }, seen, single)
		for j := range int64(n) {
			w := Num{}
			if j < seen {
				w = want(j)
			}
			if got := y(r*n + j); got != w {
				t.Errorf("[%d,%d] = %v, want %v", r, j, got, w)
			}
		}
	}
}

// The checksum does not depend on the order, and neither an even number of passes nor a large one loses it.
func TestChecksum(t *testing.T) {
	x := []float64{1, -2, math.Pi, 1e300}
	for _, passes := range []int64{1, 2, 3, 64, 1000} {
		sum := uint64(0)
		for range passes {
			sum <<= 1
			for i := range x {
				sum ^= math.Float64bits(x[len(x)-1-i])
			}
		}
		of := func(x []float64) Num { return Checksum(Exact(func(i int64) float64 { return x[i] }), 4, passes)(0) }
		got := of(x)
		if want := float64(sum & (1<<ChecksumBits - 1)); got.V != want || got.E != 0 {
			t.Errorf("%d passes: %v, want %g exactly", passes, got, want)
		}
		if wrong := of([]float64{1, -2, math.Nextafter(math.Pi, 4), 1e300}); wrong == got {
			t.Errorf("%d passes: a bit that is wrong makes no difference", passes)
		}
	}
}

// The bound on a sum stays one, however long the sum is.
func TestBoundOfLongSums(t *testing.T) {
	p := Precision{U: 0x1p-24}
	for k := int64(1); k < 1<<40; k *= 2 {
		if g := p.gamma(k); !(g > 0 && g < 0.1) || k > 1 && g < p.gamma(k/2) {
			t.Errorf("gamma of %d is %g", k, g)
		}
	}
}

// A long sum that lacks a sixteenth of its terms is outside of the bound, in every type that sums are kept in.
func TestLongSumIsBounded(t *testing.T) {
	for _, u := range []float64{0x1p-24, 0x1p-23} {
		if g := (Precision{U: u}).gamma(1 << 26); !(g < 1./160) {
			t.Errorf("u = %g: the bound of 2^26 terms is %g", u, g)
		}
	}
}
