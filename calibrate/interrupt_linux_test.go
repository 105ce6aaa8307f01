package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptSlowDisk: a run that is interrupted while it waits for the disk leaves no temporary file behind.
func TestInterruptSlowDisk(t *testing.T) {
	strace := []string{"-f", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=1500000"}
	if out, err := exec.Command("strace", append(strace, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no strace that slows a disk down: %v %s", err, out)
	}
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "calibrate")
	if err := os.Symlink(file, program); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command("strace", append(strace, program, "run", "--device", "cpu", "--dtype", "fp64", "--fusion-patterns", "none", "--budget", "1ms", "-o", "p.json")...)
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = dir, &stderr, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	files := func() []os.DirEntry {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for begin := time.Now(); len(files()) == 0 && time.Since(begin) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if left := files(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
