//go:build !(linux && amd64 && cgo)

package emulate

import "errors"

// Supported says whether instructions can be emulated here.
func Supported() bool { return false }

// Tiles says whether AMX can be emulated here.
func Tiles() bool { return false }

// Install makes the instructions work in the whole process, for good. Further
// calls change nothing.
func Install() error { return errors.New("emulate: needs Linux on amd64, and cgo") }
