//go:build !linux

package hwdetect

import (
	"fmt"
	"runtime"
)

func affinity() ([]int, error) {
	return nil, fmt.Errorf("the affinity mask cannot be read on %s", runtime.GOOS)
}
