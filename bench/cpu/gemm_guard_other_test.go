//go:build !unix

package cpu

import "testing"

// guardedBytes has no pages to protect here.
func guardedBytes(t testing.TB, n int) (front, back []byte) {
	t.Helper()
	return make([]byte, n), make([]byte, n)
}
