//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hwcal/schema"
)

func TestNVRTC(t *testing.T) {
	path := buildStub(t, "libnvrtc")
	n, err := loadNVRTC(Capability{8, 0}, "libnothing.so.1", path)
	check(t, err)
	if n.Name() != "nvrtc 12.3" {
		t.Errorf("name %q", n.Name())
	}
	u := Unit{Source: "clock"}
	tests := map[string]struct {
		capability Capability
		want       string // the target
	}{
		"cubin":                 {Capability{8, 0}, "sm_80"},
		"of its architecture":   {Capability{9, 0}, "sm_90a"},
		"a newer device":        {Capability{10, 3}, "compute_90"},
		"one between the known": {Capability{8, 9}, "compute_80"},
	}
	for name, test := range tests {
		image, err := n.Compile(u, test.capability)
		check(t, err)
		for _, want := range []string{"name clock.cu", "header device.cuh", "option --std=c++17", "option --gpu-architecture=" + test.want} {
			if !strings.Contains(string(image), want+"\n") {
				t.Errorf("%s: no %q in\n%s", name, want, image)
			}
		}
	}
	if _, err := n.Compile(u, Capability{7, 5}); err == nil || !strings.Contains(err.Error(), "[80 90], not for 7.5") {
		t.Errorf("an older device: %v", err)
	}
	_, err = n.compileText("bad.cu", "#error", nil)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Log != "x.cu(1): error: #error directive" || e.Name != "NVRTC_ERROR_COMPILATION" {
		t.Errorf("compilation: %v", err)
	}
	var held struct {
		n func() int `c:"stub_held"`
	}
	lib, err := openShared(path)
	check(t, err)
	check(t, lib.Bind(&held))
	if held.n() != 0 {
		t.Errorf("%d programs were not given back", held.n())
	}
}

func TestNoNVRTC(t *testing.T) {
	t.Setenv("CUDA_HOME", "/nowhere")
	_, err := loadNVRTC(Capability{8, 0}, "libnothing.so.12", "libnothing.so.11.2")
	for _, want := range []string{"libnothing.so.12, libnothing.so.11.2", "/nowhere/lib64, /usr/local/cuda/lib64"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if _, err := loadNVRTC(Capability{8, 0}, buildStub(t, "libcuda")); err == nil || !strings.Contains(err.Error(), "nvrtcVersion") {
		t.Errorf("another library: %v", err)
	}
}

// Of a device that the newest NVRTC has dropped an older one makes the code, if there is one; else it is told which there is.
func TestNVRTCOfOldDevice(t *testing.T) {
	newer, older := buildStub(t, "libnvrtc", "-DNEWER"), buildStub(t, "libnvrtc")
	for _, c := range []struct {
		capability Capability
		names      []string
		want       string // NVRTC, or else the error
	}{
		{Capability{9, 0}, []string{"libnothing.so.14", newer, older}, "nvrtc 13.3"},
		{Capability{8, 0}, []string{"libnothing.so.14", newer, older}, "nvrtc 12.3"},
		{Capability{8, 0}, []string{newer, "libnothing.so.12"}, "cuda: nvrtc 13.3 compiles for capabilities [90 100], not for 8.0"},
		{Capability{7, 0}, []string{newer, older}, "cuda: nvrtc 13.3 compiles for capabilities [90 100], not for 7.0"},
	} {
		var got string
		if n, err := loadNVRTC(c.capability, c.names...); err != nil {
			got = err.Error()
		} else {
			got = n.Name()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.capability, got, c.want)
		}
	}
}

// Without NVRTC, as for a driver that takes none of them, there is the PTX of the binary, unless the device is older.
func TestCompilerWithoutNVRTC(t *testing.T) {
	const driver = 10020
	c, lacking, err := newCompiler(&planned{capability: Capability{8, 0}}, driver)
	if check(t, err); lacking == nil || !strings.HasPrefix(c.Name(), "prebuilt PTX") {
		t.Errorf("%s, lacking %v", c.Name(), lacking)
	}
	if _, _, err := newCompiler(&planned{capability: Capability{7, 0}}, driver); err == nil || !strings.Contains(err.Error(), "compute capability 7.0 needs NVRTC") {
		t.Errorf("an old device: %v", err)
	}
}

// realNVRTC is NVIDIA's compiler, which needs no device.
func realNVRTC(t *testing.T) *nvrtc {
	t.Helper()
	if nvidiaDir() == "" {
		t.Skip("needs NVRTC: make cuda")
	}
	n, err := loadNVRTC(Capability{8, 0}, filepath.Join(nvidiaDir(), "cuda_nvrtc", "lib", "libnvrtc.so.12"))
	check(t, err)
	return n
}

// NVIDIA's compiler takes every unit, for the oldest generation of tensor cores that has it: newer ones
// have its instructions, too; for Hopper, where that has others; and for what is older than all of them what that is asked
// for. It does not optimize, which takes ten times as long:
// make ptx does.
func TestSourcesCompile(t *testing.T) {
	n := realNVRTC(t)
	compiled := map[Unit]bool{}
	for _, c := range []Capability{{8, 0}, {9, 0}, {12, 0}, {7, 5}} {
		if !slices.Contains(n.known, 10*c.Major+c.Minor) {
			t.Logf("%s was not compiled for: %s knows %v", c.Arch(), n.Name(), n.known)
			continue
		}
		for _, u := range Units(t, c) {
			switch {
			case c.Major < 8 && u.DType == schema.BF16: // which is not asked for where nothing multiplies in it
				continue
			case compiled[u] && !(otherOnHopper(u) && c.Major == 9) && c.Major >= 8:
				continue
			}
			compiled[u] = true
			t.Run(u.String()+" "+c.Arch(), func(t *testing.T) {
				t.Parallel()
				image, err := n.build(u, c.Arch(), "--device-debug")
				check(t, err)
				if !bytes.HasPrefix(image, []byte("\x7fELF")) {
					t.Fatalf("%d bytes that are no cubin", len(image))
				}
			})
		}
	}
}
