//go:build !(linux && amd64)

package cpu

import "runtime"

// amxRefused knows the request of Linux only; elsewhere tiles stay unused.
func amxRefused() string { return "no request for AMX is known on " + runtime.GOOS }
