package cuda

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// cached keeps the images of a compiler as files, since all units take minutes of a CPU. Without the folder, or
// where it cannot be written, each process compiles again.
type cached struct {
	Compiler
	dir string
}

// withCache keeps images in the cache folder of the user, if there is one.
func withCache(c Compiler) Compiler {
	dir, err := os.UserCacheDir()
	if err != nil {
		return c
	}
	return cached{c, filepath.Join(dir, "hwcal", "cuda")}
}

func (c cached) Compile(u Unit, capability Capability) ([]byte, error) {
	name, err := c.file(u, capability)
	if err != nil {
		return nil, err
	}
	if image, err := os.ReadFile(name); err == nil {
		return image, nil
	}
	image, err := c.Compiler.Compile(u, capability)
	if err == nil {
		keep(name, image)
	}
	return image, err
}

// file is named by all that an image is made of, so that none is ever out of date.
func (c cached) file(u Unit, capability Capability) (string, error) {
	sum, err := u.sum(capability.Arch())
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s", c.Name(), sum))
	return filepath.Join(c.dir, fmt.Sprintf("%x", key[:16])), nil
}

// keep writes beside and renames, as other processes may read and write the same, and what a machine that lost its power
// left of a file would be read for good. What cannot be kept is compiled again.
func keep(name string, image []byte) {
	if os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return
	}
	_, err = f.Write(image)
	err = errors.Join(err, f.Sync())
	if f.Close() != nil || err != nil || os.Rename(f.Name(), name) != nil {
		os.Remove(f.Name())
	}
}
