//go:build !unix

package cpu

// mapMemory falls back to the Go heap where there is no mmap.
func mapMemory(size int64, _ bool) ([]byte, error) { return make([]byte, size), nil }

func unmapMemory([]byte) error { return nil }
