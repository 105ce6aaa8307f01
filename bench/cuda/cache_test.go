//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hwcal/schema"
)

// tally is a compiler whose images tell how often it was asked.
type tally struct {
	name  string
	asked int
	err   error
}

func (c *tally) Name() string { return c.name }
func (c *tally) Compile(u Unit, capability Capability) ([]byte, error) {
	c.asked++
	return []byte(u.String() + " for " + capability.String()), c.err
}

// What was compiled once is read from then on, by the unit, the device and the compiler.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	c := &tally{name: "nvrtc 13.0"}
	for _, test := range []struct {
		name       string
		unit       Unit
		capability Capability
		asked      int // in all
	}{
		{"nvrtc 13.0", Unit{"gemm", schema.BF16}, Capability{9, 0}, 1},
		{"nvrtc 13.0", Unit{"gemm", schema.BF16}, Capability{9, 0}, 1},
		{"nvrtc 13.0", Unit{"gemm", schema.FP16}, Capability{9, 0}, 2},
		{"nvrtc 13.0", Unit{"gemm", schema.BF16}, Capability{8, 0}, 3},
		{"nvrtc 12.9", Unit{"gemm", schema.BF16}, Capability{9, 0}, 4},
		{"nvrtc 13.0", Unit{"gemm", schema.BF16}, Capability{9, 0}, 4},
	} {
		c.name = test.name
		image, err := cached{c, dir}.Compile(test.unit, test.capability)
		if want := test.unit.String() + " for " + test.capability.String(); err != nil || string(image) != want || c.asked != test.asked {
			t.Errorf("%s: %q after %d compilations, %v; want %q after %d", test.name, image, c.asked, err, want, test.asked)
		}
	}
	files, err := os.ReadDir(dir)
	if check(t, err); len(files) != 4 {
		t.Errorf("%d files, want 4: %v", len(files), files)
	}
}

// What does not compile is not kept, and what cannot be kept is compiled again.
func TestCacheFails(t *testing.T) {
	u := Unit{"gemm", schema.BF16}
	c := &tally{name: "nvrtc 13.0", err: errors.New("no")}
	dir := t.TempDir()
	for range 2 {
		if _, err := (cached{c, dir}).Compile(u, Capability{9, 0}); err == nil {
			t.Error("a failed compilation was kept")
		}
	}
	c.err, c.asked = nil, 0
	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	for range 2 {
		if image, err := (cached{c, filepath.Join(file, "below")}).Compile(u, Capability{9, 0}); err != nil || !bytes.Contains(image, []byte("gemm")) {
			t.Errorf("without a folder: %q, %v", image, err)
		}
	}
	if c.asked != 2 {
		t.Errorf("%d compilations, want 2", c.asked)
	}
	if _, err := (cached{c, dir}).Compile(Unit{Source: "nothing"}, Capability{9, 0}); err == nil {
		t.Error("a unit without a source compiled")
	}
}
