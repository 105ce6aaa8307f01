package cuda

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"hwcal/bench"
)

// prebuiltZip holds PTX of every unit, as make ptx writes it. The comment of the archive names the
// compiler, that of a file is the sum of what it was made of.
//
//go:embed prebuilt.zip
var prebuiltZip []byte

// The targets of prebuilt PTX. The driver compiles PTX for compute_80 on any device of capability 8.0 or newer, PTX for
// compute_90a, which has wgmma, on 9.0 alone.
const (
	targetAmpere = "compute_80"
	targetHopper = "compute_90a"
)

// prebuilt is the compiler where there is none: the driver compiles PTX of the binary.
type prebuilt struct{ archive *zip.Reader }

// newPrebuilt reads the archive of the binary.
func newPrebuilt() (prebuilt, error) {
	archive, err := zip.NewReader(bytes.NewReader(prebuiltZip), int64(len(prebuiltZip)))
	if err != nil {
		return prebuilt{}, fmt.Errorf("cuda: prebuilt PTX: %w", err)
	}
	return prebuilt{archive}, nil
}

func (p prebuilt) Name() string { return "prebuilt PTX, " + p.archive.Comment }

// Compile gives the PTX of the newest target that the device can run. Units that Ampere cannot run, as those in fp8,
// have PTX for Hopper alone.
func (p prebuilt) Compile(u Unit, c Capability) ([]byte, error) {
	var targets []string
	if c == (Capability{9, 0}) {
		targets = append(targets, targetHopper)
	}
	if c.AtLeast(8, 0) {
		targets = append(targets, targetAmpere)
	}
	for _, target := range targets {
		if f := p.file(u, target); f != nil {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(r)
		}
	}
	return nil, fmt.Errorf("there is no prebuilt PTX of it for a device of compute capability %s: %w", c, bench.ErrUnsupported)
}

// file is nil if the archive lacks it. PTX for Hopper is there only of units that have other code than for Ampere: those
// that no older device can run, and products in fp64.
func (p prebuilt) file(u Unit, target string) *zip.File {
	i := slices.IndexFunc(p.archive.File, func(f *zip.File) bool { return f.Name == prebuiltName(u, target) })
	if i < 0 {
		return nil
	}
	return p.archive.File[i]
}

func prebuiltName(u Unit, target string) string {
	return path.Join(target, strings.ReplaceAll(u.String(), " ", "_")+".ptx")
}

// sum of all that the PTX of a unit is made of.
func (u Unit) sum(target string) (string, error) {
	source, err := u.Text()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	headers := Headers()
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(h, "%s\x00%s\x00", name, headers[name])
	}
	fmt.Fprintf(h, "%s\x00%q\x00%s", source, u.Options(), target)
	return hex.EncodeToString(h.Sum(nil)), nil
}
