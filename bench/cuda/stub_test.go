//go:build linux && (amd64 || arm64)

package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nvidiaDir is where NVIDIA's wheels were installed, site-packages/nvidia: NVRTC and
// headers, for tests that need no device. Empty if there are none.
func nvidiaDir() string { return os.Getenv("HWCAL_NVIDIA") }

// stub is a library of testdata, and what a test reads and sets in it.
type stub struct {
	path string
	controls
}

type controls struct {
	log    func() string                 `c:"stub_log"`
	clear  func()                        `c:"stub_clear"`
	fail   func(call string, code int32) `c:"stub_fail"`
	forget func()                        `c:"stub_forget"`
	held   func() int                    `c:"stub_held"`
}

// buildStub compiles testdata/NAME.c; against NVIDIA's headers, if they are there. HWCAL_LIBCUDA is
// the one that a binary of -tags cu is linked to.
func buildStub(t *testing.T, name string, flags ...string) string {
	t.Helper()
	if path := os.Getenv("HWCAL_LIBCUDA"); path != "" && name == "libcuda" && len(flags) == 0 {
		return path
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc")
	}
	path := filepath.Join(t.TempDir(), name+".so")
	args := append([]string{"-shared", "-fPIC", "-Wall", "-Werror", "-pthread", "-o", path, filepath.Join("testdata", name+".c")}, flags...)
	if dir := nvidiaDir(); dir != "" {
		args = append(args, "-DCUDA_H")
		for _, part := range []string{"cuda_runtime", "cuda_nvcc", "cuda_nvrtc", "cublas", "cudnn"} {
			args = append(args, "-I", filepath.Join(dir, part, "include"))
		}
	}
	if out, err := exec.Command(gcc, append(args, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
