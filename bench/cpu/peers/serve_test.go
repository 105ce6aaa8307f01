//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// idle computes nothing.
type idle struct{}

func (idle) open(request) (task, error) { return task{run: func() {}}, nil }

// A library that computes nothing must not pass with the result of the peer before it.
func TestResultsAreNotInherited(t *testing.T) {
	output := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(output, []byte{1, 2, 3, 4}, 0o600); err != nil {
		t.Fatal(err)
	}
	s := server{lib: idle{}}
	if err := s.open([]string{"matmul", "fp32", "1x1x1", output}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(output); err != nil || !bytes.Equal(got, make([]byte, 4)) {
		t.Errorf("its result is %v, %v", got, err)
	}
}

// Peaks and streams have neither inputs nor a result.
func TestLibrariesLackWhatHasNoResult(t *testing.T) {
	s := server{lib: idle{}}
	if err := s.open([]string{"copy", "fp64", "1024"}); !errors.Is(err, errUnsupported) {
		t.Errorf("%v, want %v", err, errUnsupported)
	}
}
