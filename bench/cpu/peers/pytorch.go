//go:build linux

package main

import (
	_ "embed"
	"os"
	"os/exec"
)

//go:embed pytorch.py
var torchProgram string

func torch(string) (*exec.Cmd, error) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	return exec.Command(python, "-c", torchProgram), nil
}
