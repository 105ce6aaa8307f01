//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Two threads of OpenBLAS that share a CPU, while another idles, would be slow through no fault of its.
func TestOpenBLASHasAThreadOnEachCPU(t *testing.T) {
	runtime.LockOSThread() // and leave it bound: it ends with the test
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		t.Fatal(err)
	}
	if _, _, err := loadOpenBLAS(); err != nil {
		t.Skip(err)
	}
	bound := map[string]bool{} // lists of one CPU
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		status, _ := os.ReadFile(name) // of a thread that may have ended
		for line := range strings.Lines(string(status)) {
			if list, is := strings.CutPrefix(line, "Cpus_allowed_list:"); is {
				bound[strings.TrimSpace(list)] = true
			}
		}
	}
	for cpu, found := 0, 0; found < cpus.Count(); cpu++ {
		if !cpus.IsSet(cpu) {
			continue
		}
		if found++; !bound[fmt.Sprint(cpu)] {
			t.Errorf("no thread is bound to CPU %d", cpu)
		}
	}
}
