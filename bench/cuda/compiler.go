package cuda

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"hwcal/schema"
)

// Compiler makes the machine code of units.
type Compiler interface {
	// Name says what compiles, with its version: "nvrtc 12.9", "prebuilt PTX".
	Name() string
	// Compile gives the image of a unit for a device, for Context.Load. The error of a
	// failed compilation has its log.
	Compile(u Unit, c Capability) ([]byte, error)
}

// Unit is one embedded source, kernels/<Source>.cu, in one element type.
type Unit struct {
	Source string
	DType  schema.DType // empty for a source that is in no type
}

// String reads "gemm bf16".
func (u Unit) String() string { return strings.TrimSpace(u.Source + " " + string(u.DType)) }

// Capability is the compute capability of a device: 9.0 is {9, 0}.
type Capability struct{ Major, Minor int }

func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// AtLeast compares capabilities.
func (c Capability) AtLeast(major, minor int) bool {
	return c.Major > major || c.Major == major && c.Minor >= minor
}

// Arch is the target of a compilation: "sm_90a" where the architecture has features of its
// own that later ones lack, else "sm_80".
func (c Capability) Arch() string {
	if c.AtLeast(9, 0) {
		return fmt.Sprintf("sm_%d%da", c.Major, c.Minor)
	}
	return fmt.Sprintf("sm_%d%d", c.Major, c.Minor)
}

//go:embed kernels/*.cu kernels/*.cuh
var sources embed.FS

// Source is the text of a unit's source.
func (u Unit) Text() (string, error) {
	text, err := sources.ReadFile(path.Join("kernels", u.Source+".cu"))
	if err != nil {
		return "", fmt.Errorf("cuda: there is no source of unit %s", u)
	}
	return string(text), nil
}

// Headers are the texts of the embedded headers by name, as sources include them.
func Headers() map[string]string {
	entries, err := sources.ReadDir("kernels")
	if err != nil {
		panic(err) // embedded
	}
	headers := map[string]string{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".cuh") {
			text, err := sources.ReadFile(path.Join("kernels", e.Name()))
			if err != nil {
				panic(err)
			}
			headers[e.Name()] = string(text)
		}
	}
	return headers
}

// Options are those with which a unit is compiled, for NVRTC and for others that take
// such: -D of its type.
func (u Unit) Options() []string {
	options := []string{"--std=c++17", "--define-macro=HWCAL_" + strings.ToUpper(string(u.DType))}
	if u.DType == "" {
		options = options[:1]
	}
	return options
}
