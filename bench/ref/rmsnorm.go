package ref

// RMSNorm is Y[.,j] = X[.,j] r gamma[j] over rows of n elements, with
// r = 1 / sqrt(mean of the squares + eps).
func RMSNorm(x, gamma Field, n int64, eps float64, p Precision) Field {
	kept := int64(-1) // the last row: its elements are asked for one after the other
	var inverse Num
	return func(i int64) Num {
		if r := i / n; r != kept {
			var squares, off float64
			for j := range n {
				q := square(x(r*n + j))
				squares, off = squares+q.V, off+q.E
			}
			inverse, kept = inverseRoot(squares, off, int(n), eps, p), r
		}
		a, g := x(i), gamma(i%n)
		v := a.V * inverse.V * g.V
		carried := abs(g.V) * (a.E*(inverse.V+inverse.E) + abs(a.V)*inverse.E)
		return Num{V: v, E: carried + p.gamma(slack)*(abs(v)+carried)}
	}
}
