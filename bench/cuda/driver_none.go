//go:build !(linux && (amd64 || arm64))

package cuda

import "fmt"

func newDriver() (Driver, error) {
	return nil, fmt.Errorf("%w: this system's is not supported, only those of linux/amd64 and linux/arm64", ErrNoDriver)
}
