package cpu

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
)

var (
	stride  = flag.Uint64("stride", 5009, "try every n-th float32 as an argument of exp, erf and tanh; 1 takes minutes")
	samples = flag.Int("samples", 4000, "float64 arguments of exp, erf and tanh to try")
)

// transcendental is a function with its float64 value, its value to 200 bits, and
// the error allowed in units in the last place: the documented one.
type transcendental struct {
	name     string
	f        func(float64) float64
	exact    func(*big.Float) *big.Float
	far      float64 // beyond it nothing happens
	worst    float32 // where AVX2 errs the most, of all arguments
	max32    float64
	max64    float64
	kernel32 func(vecKernels[float32]) mapKernel[float32, float32]
	kernel64 func(vecKernels[float64]) mapKernel[float64, float64]
	edges    map[float64]float64
}

var inf = math.Inf(1)

var transcendentals = []transcendental{
	{"exp", math.Exp, bigExp, 750, 53.67295837402344, 1, 1,
		func(k vecKernels[float32]) mapKernel[float32, float32] { return k.exp },
		func(k vecKernels[float64]) mapKernel[float64, float64] { return k.exp },
		map[float64]float64{-inf: 0, inf: inf, 1e30: inf, -1e30: 0, 0: 1, math.Copysign(0, -1): 1}},
	{"erf", math.Erf, bigErf, 6.5, 0.006922390777617693, 3.1, 3,
		func(k vecKernels[float32]) mapKernel[float32, float32] { return k.erf },
		func(k vecKernels[float64]) mapKernel[float64, float64] { return k.erf },
		map[float64]float64{-inf: -1, inf: 1, 1e30: 1, -1e30: -1, 0: 0, math.Copysign(0, -1): math.Copysign(0, -1)}},
	{"tanh", math.Tanh, bigTanh, 22, 0.06235358491539955, 3, 3,
		func(k vecKernels[float32]) mapKernel[float32, float32] { return k.tanh },
		func(k vecKernels[float64]) mapKernel[float64, float64] { return k.tanh },
		map[float64]float64{-inf: -1, inf: 1, 1e30: 1, -1e30: -1, 0: 0, math.Copysign(0, -1): math.Copysign(0, -1)}},
}

func TestTranscendentalsFloat32(t *testing.T) {
	for _, f := range transcendentals {
		t.Run(f.name, func(t *testing.T) {
			eachISA(t, func(t *testing.T, isa ISA) {
				kernel := f.kernel32(vecKernelsFor[float32](isa))
				const parts, chunk = 4, 1 << 12
				var group sync.WaitGroup
				var worst, at [parts]float64
				for part := range uint64(parts) {
					group.Go(func() {
						x, y := append(make([]float32, 0, chunk), f.worst), make([]float32, chunk)
						check := func() {
							kernel.slice(y[:len(x)], x, nil, 0, 0)
							for i, v := range x {
								if e := ulps32(y[i], f.f(float64(v))); !(e <= worst[part]) {
									worst[part], at[part] = e, float64(v)
								}
							}
							x = x[:0]
						}
						for bits := part << 30; bits < (part+1)<<30; bits += *stride {
							v := math.Float32frombits(uint32(bits))
							if v != v {
								continue
							}
							if x = append(x, v); len(x) == chunk {
								check()
							}
						}
						check()
					})
				}
				group.Wait()
				for p, e := range worst {
					t.Logf("%.3f ulp at %g", e, at[p])
					if !(e <= f.max32) {
						t.Errorf("cpu: %s fp32 %s(%g): error %.3f ulp, documented %g", isa, f.name, at[p], e, f.max32)
					}
				}
			})
		})
	}
}

// ulps32 is the error of got in units in the last place of want, rounded.
func ulps32(got float32, want float64) float64 {
	if float64(got) == want || float64(float32(want)) == float64(got) && math.IsInf(float64(got), 0) {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

func TestTranscendentalsFloat64(t *testing.T) {
	n := *samples
	for _, f := range transcendentals {
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, n)
		want := make([]*big.Float, n)
		for i := range x {
			switch i % 3 {
			case 0:
				x[i] = -f.far + r.Float64()*(f.far+min(f.far, 709))
			case 1:
				x[i] = (2*r.Float64() - 1) * min(f.far, 3)
			default:
				x[i] = math.Copysign(math.Exp2(-30*r.Float64()), r.Float64()-0.5)
			}
		}
		var group sync.WaitGroup
		for p := range 4 {
			group.Go(func() {
				for i := p; i < n; i += 4 {
					want[i] = f.exact(new(big.Float).SetPrec(bigPrecision).SetFloat64(x[i]))
				}
			})
		}
		group.Wait()
		t.Run(f.name, func(t *testing.T) {
			eachISA(t, func(t *testing.T, isa ISA) {
				y := make([]float64, n)
				f.kernel64(vecKernelsFor[float64](isa)).slice(y, x, nil, 0, 0)
				worst, at := 0.0, 0.0
				for i := range y {
					if e := ulps64(y[i], want[i]); !(e <= worst) {
						worst, at = e, x[i]
					}
				}
				t.Logf("%.3f ulp at %g", worst, at)
				limit := f.max64
				if isa == Portable {
					limit = 2 // of package math
				}
				if !(worst <= limit) {
					t.Errorf("cpu: %s fp64 %s(%g): error %.3f ulp, documented %g", isa, f.name, at, worst, limit)
				}
			})
		})
	}
}

// The documented error of log, of positive normal numbers.
const logUlps = 2.2

func TestLogFloat32(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		kernel := vecKernelsFor[float32](isa).log
		var x []float32
		for bits := uint64(math.Float32bits(0x1p-126)); bits < uint64(math.Float32bits(float32(inf))); bits += *stride {
			x = append(x, math.Float32frombits(uint32(bits)))
		}
		for _, near := range []float32{0.75, 1, 1.5, 2, 3} {
			x = append(x, math.Nextafter32(near, 0), near, math.Nextafter32(near, 4))
		}
		y := make([]float32, len(x))
		kernel.slice(y, x, nil, 0, 0)
		worst, at := 0.0, 0.0
		for i, v := range x {
			if e := ulps32(y[i], math.Log(float64(v))); !(e <= worst) {
				worst, at = e, float64(v)
			}
		}
		t.Logf("%.3f ulp at %g", worst, at)
		if !(worst <= logUlps) {
			t.Errorf("cpu: %s fp32 log(%g): error %.3f ulp, documented %g", isa, at, worst, logUlps)
		}
		x[0] = float32(math.NaN())
		if kernel.slice(y[:1], x[:1], nil, 0, 0); y[0] == y[0] {
			t.Errorf("cpu: %s fp32 log(NaN) = %g", isa, y[0])
		}
	})
}

func TestLogFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := []float64{0x1p-1022, math.MaxFloat64, 0.75, 1, 1.5, math.Nextafter(0.75, 0), math.Nextafter(1, 0), math.Nextafter(1, 2), math.Nextafter(1.5, 0)}
	for range *samples {
		x = append(x, math.Exp2(2044*r.Float64()-1022), math.Exp2(2*r.Float64()-1))
	}
	eachISA(t, func(t *testing.T, isa ISA) {
		kernel, y := vecKernelsFor[float64](isa).log, make([]float64, len(x))
		kernel.slice(y, x, nil, 0, 0)
		worst, at := 0.0, 0.0
		for i, v := range x {
			if e := ulps64(y[i], bigLog(v)); !(e <= worst) {
				worst, at = e, v
			}
		}
		t.Logf("%.3f ulp at %g", worst, at)
		if !(worst <= logUlps) {
			t.Errorf("cpu: %s fp64 log(%g): error %.3f ulp, documented %g", isa, at, worst, logUlps)
		}
		nan := []float64{math.NaN()}
		if kernel.slice(nan, nan, nil, 0, 0); nan[0] == nan[0] {
			t.Errorf("cpu: %s fp64 log(NaN) = %g", isa, nan[0])
		}
	})
}

// bigLog is a step of Newton from that of package math, which doubles its digits.
func bigLog(x float64) *big.Float {
	y := bigNum(math.Log(x))
	ratio := bigNum(0).Quo(bigNum(x), bigExp(y))
	return y.Add(y, ratio.Sub(ratio, bigNum(1)))
}

func ulps64(got float64, want *big.Float) float64 {
	if math.IsInf(got, 0) {
		if rounded, _ := want.Float64(); rounded == got {
			return 0
		}
		return inf
	}
	e := max(want.MantExp(nil)-53, -1074)
	d := new(big.Float).SetPrec(bigPrecision).SetFloat64(got)
	if math.IsNaN(got) {
		return inf
	}
	d.Sub(d, want)
	d.SetMantExp(d, -e)
	v, _ := d.Float64()
	return math.Abs(v)
}

func TestTranscendentalsAtEdges(t *testing.T) {
	for _, f := range transcendentals {
		eachISA(t, func(t *testing.T, isa ISA) {
			edges[float32](t, isa, f, f.kernel32(vecKernelsFor[float32](isa)))
			edges[float64](t, isa, f, f.kernel64(vecKernelsFor[float64](isa)))
		})
	}
}

func edges[T float](t *testing.T, isa ISA, f transcendental, kernel mapKernel[T, T]) {
	for x, want := range f.edges {
		for _, n := range []int{1, 200} {
			src, dst := make([]T, n), make([]T, n)
			for i := range src {
				src[i] = T(x)
			}
			kernel.slice(dst, src, nil, 0, 0)
			for i, got := range dst {
				if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
					t.Fatalf("cpu: %s %T %s(%g)[%d] = %g, want %g", isa, got, f.name, x, i, got, want)
				}
			}
			src[n-1] = T(math.NaN())
			if kernel.slice(dst, src, nil, 0, 0); dst[n-1] == dst[n-1] {
				t.Fatalf("cpu: %s %T %s(NaN) = %g", isa, dst[0], f.name, dst[n-1])
			}
		}
	}
}

const bigPrecision = 200

func bigNum(v float64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetFloat64(v) }

// bigExp is the Taylor series at x/2^24, squared 24 times.
func bigExp(x *big.Float) *big.Float {
	const k = 24
	y := bigNum(0).SetMantExp(x, -k)
	sum, term := bigNum(1), bigNum(1)
	for i := 1; i < 14; i++ {
		term.Quo(term.Mul(term, y), bigNum(float64(i)))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum
}

var bigTwoOverSqrtPi, _, _ = big.ParseFloat("1.12837916709551257389615890312154517168810125865799771368817144342128493688", 10, bigPrecision, big.ToNearestEven)

// bigErf is 2/sqrt(pi) e^(-x^2) sum 2^i x^(2i+1) / (1 3 5 ... 2i+1).
func bigErf(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	square := bigNum(0).Mul(x, x)
	twice := bigNum(0).Add(square, square)
	sum, term := bigNum(0).Set(x), bigNum(0).Set(x)
	for i := 1; term.MantExp(nil) > sum.MantExp(nil)-120; i++ {
		term.Quo(term.Mul(term, twice), bigNum(float64(2*i+1)))
		sum.Add(sum, term)
	}
	sum.Mul(sum, bigExp(square.Neg(square)))
	return sum.Mul(sum, bigTwoOverSqrtPi)
}

func bigTanh(x *big.Float) *big.Float {
	e := bigExp(bigNum(0).Add(x, x))
	return bigNum(0).Quo(bigNum(0).Sub(e, bigNum(1)), e.Add(e, bigNum(1)))
}
