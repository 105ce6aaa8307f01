package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// version is set by the linker.
var version string

// unreleased is the version of a build that the linker was told none for, as that of go run.
const unreleased = "0.2.0-dev"

// toolVersion is the version that a profile names. Two builds that were told none differ by what they consist of, so that
// none resumes what the other began.
func toolVersion() string {
	if version != "" {
		return version
	}
	name, err := os.Executable()
	if err != nil {
		return unreleased
	}
	f, err := os.Open(name)
	if err != nil {
		return unreleased
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unreleased
	}
	return fmt.Sprintf("%s+%.6x", unreleased, h.Sum(nil))
}
