//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A PyTorch that cannot be loaded is one that says why, whatever it raises.
func TestBrokenPyTorchSaysWhy(t *testing.T) {
	for raised, want := range map[string]string{
		`OSError("libgomp.so.1: cannot open")`: "OSError: libgomp.so.1: cannot open",
		`AssertionError`:                       "AssertionError:",
		`ImportError("no torch\nhere")`:        "ImportError: no torch",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "torch.py"), []byte("raise "+raised), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, err := torch(dir)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
		out, err := cmd.Output()
		if cmd.Process == nil {
			t.Skip(err)
		}
		if got := strings.TrimSpace(string(out)); got != "error "+want || err != nil {
			t.Errorf("%s: it answered %q, %v; want %q", raised, got, err, "error "+want)
		}
	}
}
