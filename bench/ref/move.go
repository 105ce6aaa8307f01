package ref

// Copy is Y = X.
func Copy(x Field) Field { return x }

// Gather is Y[i,.] = T[index[i],.] with rows of n elements.
func Gather(table, index Field, n int64) Field {
	return func(i int64) Num { return table(int64(index(i/n).V)*n + i%n) }
}

// Transpose is Y[n,m] = X[m,n] with rows and columns exchanged.
func Transpose(x Field, m, n int64) Field {
	return func(i int64) Num { return x(i%m*n + i/m) }
}

// Concat is Y[.,n+k] = X[.,n] and behind it Z[.,k].
func Concat(x, z Field, n, k int64) Field {
	return func(i int64) Num {
		row, j := i/(n+k), i%(n+k)
		if j < n {
			return x(row*n + j)
		}
		return z(row*k + j - n)
	}
}
