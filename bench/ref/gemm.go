package ref

// Gemm is Y[m,n] = X[m,k] W[k,n].
func Gemm(x, w Field, n, k int64, p Precision) Field {
	return func(i int64) Num {
		row, col := i/n, i%n
		return p.dot(k, func(j int64) (Num, Num) { return x(row*k + j), w(j*n + col) })
	}
}

// BatchedGemmT is S[b,m,n] = A[b,m,k] B[b,n,k]^T, the scores Q K^T of attention.
func BatchedGemmT(a, b Field, m, n, k int64, p Precision) Field {
	return func(i int64) Num {
		batch, row, col := i/(m*n), i/n%m, i%n
		return p.dot(k, func(j int64) (Num, Num) {
			return a((batch*m+row)*k + j), b((batch*n+col)*k + j)
		})
	}
}

// BatchedGemm is O[b,m,n] = P[b,m,k] V[b,k,n], the weighted values of attention.
func BatchedGemm(a, b Field, m, n, k int64, p Precision) Field {
	return func(i int64) Num {
		batch, row, col := i/(m*n), i/n%m, i%n
		return p.dot(k, func(j int64) (Num, Num) {
			return a((batch*m+row)*k + j), b((batch*k+j)*n + col)
		})
	}
}
