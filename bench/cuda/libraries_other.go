//go:build !linux || !(amd64 || arm64)

package cuda

import (
	"errors"
)

var errOtherSystem = errors.New("libraries of CUDA are found on 64-bit Linux only")

func openCuBLASLt(Context, int) (library, error) { return nil, errOtherSystem }

func openCuDNN(Context) (library, error) { return nil, errOtherSystem }
