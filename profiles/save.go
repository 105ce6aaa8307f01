package profiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"hwcal/schema"
)

// Save writes a profile to a file so that at any moment the file is the old
// one or the whole new one: it writes a file beside it, syncs, renames, and
// syncs the folder. After an error the old file is as it was, and nothing is
// left beside it.
//
// A symbolic link stays, and what it points to is replaced. What is no regular
// file (a device, a pipe, /dev/stdout, or "-" for standard output) cannot be
// replaced and is written straight. A file that the process may not write is
// not replaced either, even where the folder would allow it.
func Save(path string, p *schema.Profile) error {
	data, err := Marshal(p)
	if err != nil {
		return err
	}
	return Write(path, data)
}

// Write is Save for what was made from a profile, as a picture of it.
func Write(path string, data []byte) error {
	if err := writeFile(path, data); err != nil {
		return fmt.Errorf("profiles: save %s: %w", path, cause(err))
	}
	return nil
}

// cause drops the path from an error, as Save names it itself: the path below
// may be that of the temporary file, which says nothing to a reader.
func cause(err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return perr.Err
	}
	var lerr *os.LinkError
	if errors.As(err, &lerr) {
		return lerr.Err
	}
	return err
}

func writeFile(path string, data []byte) error {
	if path == "" {
		return errors.New("empty path")
	}
	if f := Stream(path); f != nil {
		// Opening it anew would start at the beginning of a file that the shell has
		// redirected it to.
		_, err := f.Write(data)
		return err
	}
	perm := fs.FileMode(0o644) // less the umask
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular() || isDescriptor(path):
		return writeStraight(path, data)
	default:
		perm = info.Mode().Perm()
		if err := mayWrite(path); err != nil {
			return err
		}
	}
	target, err := follow(path)
	if err != nil {
		return err
	}
	return replace(target, data, perm, info)
}

// mayWrite asks for the permission of a file: renaming asks only for that of its folder.
func mayWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// Stream is standard output or standard error if Save writes there under this name, so that nothing else may be printed
// to it, or nil.
func Stream(path string) *os.File {
	switch filepath.ToSlash(filepath.Clean(path)) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr
	}
	if path == "-" { // ./- is a file
		return os.Stdout
	}
	return nil
}

// isDescriptor says whether a path names an open file of a process, which
// stays open under that name whatever is renamed over it.
func isDescriptor(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

func writeStraight(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// follow resolves the symbolic links at the end of a path, also those that
// point to a file that is still to be made.
func follow(path string) (string, error) {
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

// temporary is held while there is a temporary file.
var temporary sync.Mutex

// Finish waits for a file that is being saved, or for the trace of Writable to go, and lets none begin: it is what
// comes before an end of the process that runs nothing that was deferred.
func Finish() { temporary.Lock() }

// replace puts data in the place of path, and of the file that is there if old is not nil, in one step.
func replace(path string, data []byte, perm fs.FileMode, old fs.FileInfo) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	temporary.Lock()
	defer temporary.Unlock()
	f, err := createBeside(dir, base, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if old != nil {
		// The owner and the mode of the old file hold, whoever writes it and whatever the umask is now.
		keepOwner(f, old)
		if err := f.Chmod(perm); err != nil {
			return err
		}
	}
	if err := writeSync(f, data); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

func writeSync(f *os.File, data []byte) error {
	if n, err := f.Write(data); err != nil {
		return err
	} else if n < len(data) {
		return io.ErrShortWrite
	}
	// Some file systems report a full disk only here or on closing.
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// createBeside makes a hidden file in the same folder, so that renaming stays
// within one file system. os.CreateTemp would make it 0600 past the umask.
func createBeside(dir, base string, perm fs.FileMode) (*os.File, error) {
	if r := []rune(base); len(r) > 60 {
		base = string(r[:60]) // the name with its suffix has to fit as well
	}
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, errors.New("no free name for a temporary file")
}

// syncDir makes the rename last through a power failure. The profile is in
// place and whole already, so a file system that cannot do it is no error.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return // folders cannot be opened for syncing
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// Writable says early whether Save can be expected to succeed, so that nobody
// measures for minutes in vain. It leaves nothing behind.
func Writable(path string) error {
	if Stream(path) != nil {
		return nil
	}
	if isDescriptor(path) {
		if err := writeStraight(path, nil); err != nil {
			return fmt.Errorf("write %s: %w", path, cause(err))
		}
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil: // what follows says why, unless the file is still to be made
	case info.IsDir():
		return fmt.Errorf("write %s: is a directory", path)
	case !info.Mode().IsRegular():
		return nil // a device or pipe
	default:
		if err := mayWrite(path); err != nil {
			return fmt.Errorf("write %s: %w", path, cause(err))
		}
	}
	target, err := follow(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	temporary.Lock()
	defer temporary.Unlock()
	f, err := createBeside(filepath.Dir(target), filepath.Base(target), 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	_, err = f.Write(make([]byte, roomBytes))
	err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// roomBytes is more than the profile of a large machine takes: default runs of a few cores come to 1.3 MiB, and full
// ones have several times as many entries.
const roomBytes = 8 << 20
