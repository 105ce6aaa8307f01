//go:build !amd64

package cpu

var units []unit
