package ref

import "math"

// LayerNorm is Y[.,j] = (X[.,j] - mean) r gamma[j] + beta[j] over rows of n elements, with
// r = 1 / sqrt(variance + eps).
func LayerNorm(x, gamma, beta Field, n int64, eps float64, p Precision) Field {
	// The last row is kept: its elements are asked for one after the other.
	kept := int64(-1)
	row := make([]Num, n)
	var inverse Num
	return func(i int64) Num {
		if r := i / n; r != kept {
			inverse = deviations(row, func(j int64) Num { return x(r*n + j) }, eps, p)
			kept = r
		}
		d, g, b := row[i%n], gamma(i%n), beta(i%n)
		v := d.V * inverse.V * g.V
		carried := abs(g.V) * (d.E*(inverse.V+inverse.E) + abs(d.V)*inverse.E)
		return Num{V: v + b.V, E: carried + p.gamma(slack)*(abs(v)+carried+abs(b.V))}
	}
}

// deviations of the elements from their mean, and r of the row.
//
// The mean is a sum of n elements and a division, a deviation one rounding more. The
// squares are summed in the same way, and an error e of a deviation d changes its
// square by 2 d e + e^2. r falls with the variance: its error is largest where the
// variance is least. Kernels that subtract the mean of a few elements before they sum stay
// within the bound if these are like the others, as random ones are: the squares add up to little more.
func deviations(row []Num, x func(j int64) Num, eps float64, p Precision) (inverse Num) {
	n := float64(len(row))
	var sum, magnitude, carried float64
	for j := range row {
		row[j] = x(int64(j))
		sum += row[j].V
		magnitude += abs(row[j].V)
		carried += row[j].E
	}
	mean := Num{V: sum / n, E: (carried + p.gamma(int64(len(row))+slack)*(magnitude+carried)) / n}
	var squares, off float64
	for j, a := range row {
		d := a.V - mean.V
		e := a.E + mean.E
		e += p.U * (abs(d) + e)
		row[j] = Num{V: d, E: e}
		q := square(row[j])
		squares, off = squares+q.V, off+q.E
	}
	return inverseRoot(squares, off, len(row), eps, p)
}

// inverseRoot is 1 / sqrt(mean + eps), where the sum of n squares is `squares`, with an error of
// at most `off` before the roundings of the sum.
func inverseRoot(squares, off float64, n int, eps float64, p Precision) Num {
	mean := Num{V: squares / float64(n), E: (off + p.gamma(int64(n)+slack)*(squares+off)) / float64(n)}
	r := 1 / math.Sqrt(mean.V+eps)
	most := 1 / math.Sqrt(max(mean.V-mean.E, 0)+eps)
	return Num{V: r, E: most - r + p.gamma(slack)*most}
}
