//go:build !amd64

package cpu

const hasAssembly = false
