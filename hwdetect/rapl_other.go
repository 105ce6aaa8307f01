//go:build !linux

package hwdetect

import (
	"runtime"

	"hwcal/schema"
)

func rapl(tree, string, string) schema.Power {
	return schema.Power{Unavailable: "energy counters are read on Linux only, not on " + runtime.GOOS}
}
