//go:build !linux

package cpu

import "os"

// pageBytes is the size of the pages behind memory: nobody asked for others.
func pageBytes([]byte) int64 { return int64(os.Getpagesize()) }
