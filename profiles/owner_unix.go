//go:build unix

package profiles

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f to the owner of old, as far as the process may: what root writes stays a user's.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
