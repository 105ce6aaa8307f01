//go:build !amd64

package cpu

// pairUnit is there for no unit of this architecture.
func pairUnit(unit) (convUnit[float32], pairRows) { return convUnit[float32]{}, nil }
