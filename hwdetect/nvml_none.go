//go:build !linux || !cgo

package hwdetect

import (
	"errors"
	"runtime"

	"hwcal/schema"
)

// nvidiaGPUs says why a build without NVML lists no GPU.
func nvidiaGPUs() ([]schema.Device, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("NVIDIA GPUs are listed on linux only, not on " + runtime.GOOS)
	}
	return nil, errors.New("built without cgo, which NVML needs: rebuild with CGO_ENABLED=1 and a C compiler")
}
