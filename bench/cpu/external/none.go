//go:build !linux || !(amd64 || arm64)

package external

import "errors"

var errOtherSystem = errors.New("libraries are looked for on 64-bit Linux only")

func loadOpenBLAS([]int) (library, error) { return nil, errOtherSystem }

func loadOneDNN([]int) (library, error) { return nil, errOtherSystem }
