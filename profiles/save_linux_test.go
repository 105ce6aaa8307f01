package profiles

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestSaveFullDisk: a disk that fills up while writing costs nothing.
func TestSaveFullDisk(t *testing.T) {
	dir := t.TempDir()
	// 16 KiB hold the old file and less than the new one.
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("full disk: mounting a small tmpfs: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "p.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Save(path, goldenProfile(t))
	wantError(t, err, path, "no space left")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is not ENOSPC", err)
	}
	wantFile(t, path, "old")
	if got := entries(t, dir); got != "p.json" {
		t.Errorf("folder holds %s", got)
	}
}

// TestSaveFullDevice: /dev/full is a disk without space that everybody has, and
// no regular file, so that it is written straight and still there afterwards.
func TestSaveFullDevice(t *testing.T) {
	wantError(t, Save("/dev/full", goldenProfile(t)), "/dev/full", "no space left")
	if err := Save("/dev/null", goldenProfile(t)); err != nil {
		t.Error(err)
	}
	for _, dev := range []string{"/dev/full", "/dev/null"} {
		if info, err := os.Stat(dev); err != nil || info.Mode()&os.ModeDevice == 0 {
			t.Fatalf("%s is no device any more: %v", dev, err)
		}
	}
}

func TestSavePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("pipe: %v", err)
	}
	got := make(chan string)
	go func() {
		data, _ := os.ReadFile(path)
		got <- string(data)
	}()
	if err := Save(path, goldenProfile(t)); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != string(golden(t)) {
		t.Errorf("pipe got %.40q", s)
	}
}

// TestSaveDescriptor: /proc/self/fd/N of a regular file is the open file, which
// renaming over its name would not reach.
func TestSaveDescriptor(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "p.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	fd := filepath.Join("/proc/self/fd", strconv.Itoa(int(f.Fd())))
	if err := Save(fd, goldenProfile(t)); err != nil {
		t.Fatal(err)
	}
	wantFile(t, f.Name(), "before\n"+string(golden(t)))
}

// TestSaveUnwritable: neither a folder nor a file that is read-only is changed.
func TestSaveUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("unwritable file and folder: root may write everything")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "p.json")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	wantError(t, Save(path, goldenProfile(t)), path, "permission denied")
	wantError(t, Writable(path), path, "permission denied")
	wantFile(t, path, "old")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	other := filepath.Join(dir, "other.json")
	wantError(t, Save(other, goldenProfile(t)), other, "permission denied")
	if got := entries(t, dir); got != "p.json" {
		t.Errorf("folder holds %s", got)
	}
}

// TestSaveReadOnlyDisk is what root meets instead of permissions.
func TestSaveReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("read-only disk: mounting: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "p.json")
	wantError(t, Save(path, goldenProfile(t)), path, "read-only file system")
}

// TestWritableDescriptor: what is under /proc is an open file, or cannot be written.
func TestWritableDescriptor(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Writable("/proc/self/fd/" + strconv.Itoa(int(f.Fd()))); err != nil {
		t.Error(err)
	}
	wantError(t, Writable("/proc/none/p.json"), "/proc/none/p.json", "no such file")
}

// TestSaveOwner: what root writes in place of a user's file stays the user's.
func TestSaveOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	const user, group = 12345, 54321
	if err := os.Chown(path, user, group); err != nil {
		t.Skipf("give a file away: %v", err)
	}
	if err := Save(path, goldenProfile(t)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != user || s.Gid != group || info.Mode().Perm() != 0o600 {
		t.Errorf("owner %d:%d, mode %o", s.Uid, s.Gid, info.Mode().Perm())
	}
}
