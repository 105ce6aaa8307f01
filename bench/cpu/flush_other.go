//go:build !amd64 && !arm64

package cpu

const canFlush = false

func flushLines(*byte, int) { panic("cpu: no instruction flushes caches") }
