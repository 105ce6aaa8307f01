//go:build !amd64 && !arm64

package cpu

const fmaPipes = 2

func vectorISAs() []ISA { return nil }
