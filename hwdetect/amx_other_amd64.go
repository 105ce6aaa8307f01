//go:build amd64 && !linux

package hwdetect

import "runtime"

// requestAMX knows the request of Linux only; elsewhere tiles stay unused.
func requestAMX() string { return "no known request for it on " + runtime.GOOS }
