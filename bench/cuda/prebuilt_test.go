//go:build linux && (amd64 || arm64)

package cuda

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"flag"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

var update = flag.Bool("update", false, "write prebuilt.zip (make ptx)")

// What is embedded was made of the sources that are embedded.
func TestPrebuiltIsGenerated(t *testing.T) {
	ampere, hopper := Units(t, Capability{8, 0}), Units(t, Capability{9, 0})
	if *update {
		prebuild(t, ampere, hopper)
	}
	p, err := newPrebuilt()
	if err != nil {
		t.Fatal(err)
	}
	fresh := func(u Unit, target string) bool {
		sum, err := u.sum(target)
		if err != nil {
			t.Fatal(err)
		}
		f := p.file(u, target)
		return f != nil && f.Comment == sum
	}
	for _, u := range ampere {
		if !fresh(u, targetAmpere) {
			t.Errorf("unit %s for %s is not of the present sources: make ptx", u, targetAmpere)
		}
	}
	for _, u := range hopper {
		if !slices.Contains(ampere, u) || otherOnHopper(u) {
			if !fresh(u, targetHopper) {
				t.Errorf("unit %s for %s is not of the present sources: make ptx", u, targetHopper)
			}
		}
		if ptx, err := p.Compile(u, Capability{9, 0}); err != nil || !bytes.Contains(ptx, []byte(".visible .entry")) {
			t.Errorf("unit %s has no kernels: %v", u, err)
		}
	}
}

// otherOnHopper are the units that have other instructions for Hopper than for Ampere: those that multiply in fp64 on tensor
// cores, by mma.cuh, and those with wide tiles.
func otherOnHopper(u Unit) bool {
	return u.DType == schema.FP64 && slices.Contains([]string{"conv", "gemm", "layers", "peak"}, u.Source) ||
		wideKernels[u.Source] != "" && slices.Contains(wideTypes, u.DType)
}

// Products in fp64 by the instructions of Ampere take twice the time on Hopper.
func TestPrebuiltDoubles(t *testing.T) {
	p, err := newPrebuilt()
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[Capability]string{{8, 0}: "m8n8k4", {9, 0}: "m16n8k4"} {
		for _, u := range Units(t, c) {
			if u.DType != schema.FP64 {
				continue
			}
			ptx, err := p.Compile(u, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, shape := range regexp.MustCompile(`mma\.sync\.aligned\.(\w+)`).FindAllSubmatch(ptx, -1) {
				if string(shape[1]) != want {
					t.Errorf("unit %s on %s: a product of %s, want %s", u, c, shape[1], want)
					break
				}
			}
		}
	}
}

// What needs a newer device than the archive is for is unsupported, as peaks in fp8, and says why.
func TestPrebuiltLacks(t *testing.T) {
	p, err := newPrebuilt()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Capability{{8, 9}, {12, 0}} {
		b, err := New(&planned{capability: c}, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		chain := bench.Chain{bench.PeakFMA(4, 1)}
		ws, err := b.Open(bench.Case{Chain: chain, DType: schema.FP8, Unit: "mma", Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Bind(chain); !isUnsupported(err) || !strings.Contains(err.Error(), "no prebuilt PTX of it for a device of compute capability "+c.String()) {
			t.Errorf("%s: %v", c, err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}

// prebuild writes the archive with the compiler of NVIDIA that HWCAL_NVIDIA has.
func prebuild(t *testing.T, ampere, hopper []Unit) {
	t.Helper()
	n := realNVRTC(t)
	var mem bytes.Buffer
	w := zip.NewWriter(&mem)
	w.SetComment(n.Name())
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	add := func(u Unit, target string, ptx []byte) {
		sum, err := u.sum(target)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: prebuiltName(u, target), Comment: sum, Method: zip.Deflate})
		if err == nil {
			_, err = f.Write(ptx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	build := func(u Unit, target string) []byte {
		ptx, err := n.build(u, target)
		if err != nil {
			t.Fatalf("unit %s: %v", u, err)
		}
		return bytes.TrimRight(ptx, "\x00")
	}
	for _, u := range ampere {
		add(u, targetAmpere, build(u, targetAmpere))
	}
	// What runs on an older device is compiled from its PTX for a newer one, unless it has code for that.
	for _, u := range hopper {
		if !slices.Contains(ampere, u) || otherOnHopper(u) {
			add(u, targetHopper, build(u, targetHopper))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("prebuilt.zip", mem.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	prebuiltZip = mem.Bytes()
}
