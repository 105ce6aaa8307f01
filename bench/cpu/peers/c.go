//go:build linux

package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// cFiles are bandwidth kernels and register peaks in plain C.
//
//go:embed c
var cFiles embed.FS

// plainC compiles the program in C.
func plainC(dir string) (*exec.Cmd, error) {
	dir = filepath.Join(dir, "c")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := cFiles.ReadDir("c")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "peer")
	args := []string{"-O3", "-march=native", "-pthread", "-o", program}
	for _, e := range entries {
		source, err := cFiles.ReadFile("c/" + e.Name())
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, e.Name())
		if err := os.WriteFile(file, source, 0o600); err != nil {
			return nil, err
		}
		if filepath.Ext(file) == ".c" {
			args = append(args, file)
		}
	}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cc: %w\n%s", err, out)
	}
	return exec.Command(program), nil
}
