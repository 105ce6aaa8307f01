package cpu

// epilogue works on a part of C that has just got its last product and is still in
// L1: m x n elements from c[0] with leading dimension ldc, which are the elements
// (i0.., j0..) of C. A worker calls it for the tiles that it owns, so it needs
// no lock; nil does nothing.
type epilogue[T float] func(c []T, ldc, i0, j0, m, n int)

// epilogueOf lets all steps work in place.
func epilogueOf[T float](steps []step[T]) epilogue[T] {
	if len(steps) == 0 {
		return nil
	}
	return func(c []T, ldc, i0, j0, m, n int) {
		for _, s := range steps {
			s(c, ldc, c, ldc, i0, j0, m, n)
		}
	}
}

// from tells the epilogue of a block of rows where in the matrix it is.
func (f epilogue[T]) from(row int) epilogue[T] {
	if f == nil || row == 0 {
		return f
	}
	return func(c []T, ldc, i0, j0, m, n int) { f(c, ldc, row+i0, j0, m, n) }
}
