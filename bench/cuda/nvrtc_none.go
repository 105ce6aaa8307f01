//go:build !(linux && (amd64 || arm64))

package cuda

import "errors"

func newNVRTC(int, Capability) (Compiler, error) {
	return nil, errors.New("cuda: NVRTC is only loaded on linux/amd64 and linux/arm64")
}
