//go:build !linux || !cgo

package cuda

import (
	"errors"

	"hwcal/schema"
)

// newWatcher says why a build without NVML watches no GPU.
func newWatcher(schema.Device) (Watcher, error) {
	return nil, errors.New("built without cgo, which NVML needs: throttling, other processes, memory errors and energy are not watched")
}
