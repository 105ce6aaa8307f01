package ref

import (
	"math"
	"slices"
	"testing"
)

func values(f Field, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(int64(i)).V
	}
	return v
}

func exact(x ...float64) Field { return Exact(func(i int64) float64 { return x[i] }) }

// What moves elements, by hand.
func TestMovesByHand(t *testing.T) {
	x := exact(1, 2, 3, 4, 5, 6) // 2x3, or 3x2
	for _, c := range []struct {
		name string
		got  Field
		want []float64
	}{
		{"transpose", Transpose(x, 2, 3), []float64{1, 4, 2, 5, 3, 6}},
		{"concat", Concat(x, exact(7, 8), 3, 1), []float64{1, 2, 3, 7, 4, 5, 6, 8}},
		{"gather", Gather(x, exact(2, 0, 2), 2), []float64{5, 6, 1, 2, 5, 6}},
	} {
		if got := values(c.got, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Functions of one and of two numbers, computed in float32 in the plain way.
func TestFunctionBounds(t *testing.T) {
	const n = 500
	x, fx := random(1, n)
	z, fz := random(2, n)
	for i := range z {
		z[i] += float32(math.Copysign(0.5, float64(z[i])))
	}
	for _, c := range []struct {
		name   string
		plain  func(x, z float32) float32
		want   Field
		widest float64
	}{
		{"sub", func(x, z float32) float32 { return x - z }, Sub(fx, fz, single), 1e-6},
		{"div", func(x, z float32) float32 { return x / z }, Div(fx, fz, single), 2e-6},
		{"exp", func(x, _ float32) float32 { return float32(math.Exp(float64(x))) }, Exp(fx, single), 2e-5},
		{"tanh", func(x, _ float32) float32 { return float32(math.Tanh(float64(x))) }, Tanh(fx, single), 1e-6},
		{"sigmoid", func(x, _ float32) float32 { return 1 / (1 + float32(math.Exp(-float64(x)))) }, Sigmoid(fx, single), 1e-6},
		{"gelu_tanh", func(x, _ float32) float32 {
			u := 0.7978845608 * (x + 0.044715*x*x*x)
			return x / 2 * (1 + float32(math.Tanh(float64(u))))
		}, GELUTanh(fx, single), 2e-6},
	} {
		y := make([]float32, n)
		for i := range y {
			y[i] = c.plain(x[i], z[i])
		}
		within(t, c.name, y, c.want, c.widest)
	}
}

// What reduces rows of 300 elements, computed in float32 in the plain way.
func TestRowBounds(t *testing.T) {
	const m, n = 4, 300
	x, fx := random(3, m*n)
	z, fz := random(4, m*n)
	label := []float64{0, 7, 299, 150}
	var sums, maxima, losses []float32
	norms := make([]float32, m*n)
	var mse float32
	for i := range m {
		row := x[i*n:][:n]
		var sum, squares, exponentials float32
		largest := slices.Max(row)
		for j, v := range row {
			sum, squares = sum+v, squares+v*v
			exponentials += float32(math.Exp(float64(v - largest)))
			mse += (v - z[i*n+j]) * (v - z[i*n+j])
		}
		for j, v := range row {
			norms[i*n+j] = v / float32(math.Sqrt(float64(squares/n+1e-5))) * z[j]
		}
		sums, maxima = append(sums, sum), append(maxima, largest)
		losses = append(losses, largest+float32(math.Log(float64(exponentials)))-row[int(label[i])])
	}
	rows := func(i, j int64) Num { return fx(i*n + j) }
	within(t, "sum", sums, Sum(rows, n, single), 0.01)
	within(t, "max", maxima, Max(rows, n), 0)
	within(t, "cross_entropy", losses, CrossEntropy(fx, exact(label...), n, single), 1e-4)
	within(t, "rmsnorm", norms, RMSNorm(fx, fz, n, 1e-5, single), 2e-4)
	within(t, "mse", []float32{mse / (m * n)}, MSE(fx, fz, m*n, single), 1e-3)
	if mean := Mean(rows, n, single)(1); math.Abs(mean.V*n-float64(sums[1])) > 1e-3 {
		t.Errorf("mean: %g of a sum of %g", mean.V, sums[1])
	}
}
