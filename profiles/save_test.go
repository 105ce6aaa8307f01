package profiles

import (
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hwcal/schema"
)

func goldenProfile(t testing.TB) *schema.Profile {
	t.Helper()
	p, err := Parse(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// entries lists a folder, hidden files included: a failed save leaves none.
func entries(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func wantFile(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %.40q, want %.40q", path, got, want)
	}
}

func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error %q names the temporary file", err)
	}
}

func TestSaveNewAndReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "profile.json")
	want := string(golden(t))
	for _, old := range []string{"", "old", strings.Repeat("x", 1<<20)} {
		if old != "" {
			if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Save(path, goldenProfile(t)); err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, want)
		if got := entries(t, dir); got != "profile.json" {
			t.Errorf("folder holds %s", got)
		}
	}
	// A name of the full length leaves no room for a suffix.
	long := filepath.Join(dir, strings.Repeat("n", 250)+".json")
	if err := Save(long, goldenProfile(t)); err != nil {
		t.Error(err)
	}
}

// TestFinish: whenever a process ends behind Finish, there is no temporary file, and the file is whole.
func TestFinish(t *testing.T) {
	for name, save := range map[string]func(path string) error{
		"Save":     func(path string) error { return Save(path, goldenProfile(t)) },
		"Writable": Writable,
	} {
		dir, ends := t.TempDir(), make(chan error)
		go func() {
			for range 100 {
				if err := save(filepath.Join(dir, "p.json")); err != nil {
					ends <- err
				}
			}
			close(ends)
		}()
		for done := false; !done; {
			Finish()
			if got := entries(t, dir); strings.Contains(got, ".tmp") {
				t.Errorf("%s: folder holds %s", name, got)
			}
			temporary.Unlock()
			select {
			case err := <-ends:
				if done = true; err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// TestRoom: there is room for several times the profiles that we have.
func TestRoom(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > roomBytes/4 {
			t.Errorf("%s: %v, %d bytes", file, err, info.Size())
		}
	}
}

func TestSaveKeepsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no such modes")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		old  fs.FileMode // 0: no file
		want fs.FileMode
	}{
		{"private", 0o600, 0o600},
		{"shared", 0o666, 0o666},
		{"new", 0, 0o644},
	} {
		path := filepath.Join(dir, c.name)
		if c.old != 0 {
			if err := os.WriteFile(path, nil, c.old); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.old); err != nil {
				t.Fatal(err)
			}
		}
		if err := Save(path, goldenProfile(t)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		// The umask may take bits from a new file, never add any.
		if got := info.Mode().Perm(); got != c.want && (c.old != 0 || got&^c.want != 0 || got&0o600 != 0o600) {
			t.Errorf("%s: mode %o, want %o", c.name, got, c.want)
		}
	}
}

func TestSaveSymlink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, exists := range []bool{true, false} {
		target := filepath.Join("real", "p.json")
		if exists {
			if err := os.WriteFile(filepath.Join(dir, target), []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		link, hop := filepath.Join(dir, "link.json"), filepath.Join(dir, "hop.json")
		if err := os.Symlink("hop.json", link); err != nil {
			t.Skipf("symbolic links: %v", err)
		}
		if err := os.Symlink(target, hop); err != nil {
			t.Fatal(err)
		}
		if err := Save(link, goldenProfile(t)); err != nil {
			t.Fatal(err)
		}
		for _, l := range []string{link, hop} {
			if info, err := os.Lstat(l); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("%s is no link any more: %v", l, err)
			}
		}
		wantFile(t, filepath.Join(dir, target), string(golden(t)))
		if got := entries(t, filepath.Join(dir, "real")); got != "p.json" {
			t.Errorf("folder holds %s", got)
		}
		for _, f := range []string{link, hop, filepath.Join(dir, target)} {
			os.Remove(f)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	wantError(t, Save(loop, goldenProfile(t)), loop)
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	p := goldenProfile(t)
	wantError(t, Save("", p), "empty path")
	wantError(t, Save(dir, p), dir, "is a directory")
	missing := filepath.Join(dir, "missing", "p.json")
	wantError(t, Save(missing, p), missing)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, Save(filepath.Join(file, "p.json"), p), "p.json")
	wantError(t, Save(file, nil), "no profile")

	// Nothing is touched for a profile that cannot be written.
	bad := goldenProfile(t)
	bad.Devices[0].Compute[0].LatencyMS.Mean = math.NaN()
	wantError(t, Save(file, bad), "NaN")
	wantFile(t, file, "old")
	if got := entries(t, dir); got != "file" {
		t.Errorf("folder holds %s", got)
	}
}

func TestSaveStandardStreams(t *testing.T) {
	for path, stream := range map[string]**os.File{
		"-": &os.Stdout, "/dev/stdout": &os.Stdout, "/dev/fd/1": &os.Stdout, "/proc/self/fd/1": &os.Stdout,
		"/dev/stderr": &os.Stderr, "/dev/fd/2": &os.Stderr, "/proc/self/fd/2": &os.Stderr,
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out := make(chan string)
		go func() {
			data, _ := io.ReadAll(r)
			out <- string(data)
		}()
		before := *stream
		*stream = w
		err = Save(path, goldenProfile(t))
		*stream = before
		w.Close()
		if got := <-out; err != nil || got != string(golden(t)) {
			t.Errorf("%s: %v, wrote %.40q", path, err, got)
		}
		r.Close()
	}
}

// TestMarshalHasNoNulls: a profile with lists that were never made is valid all
// the same, and is not changed by writing it.
func TestMarshalHasNoNulls(t *testing.T) {
	p := goldenProfile(t)
	p.Warnings = nil
	p.Devices[0].Compute[5].Warnings, p.Devices[0].FusionCrossovers[0].Points[1].Warnings = nil, nil
	p.Devices[0].FusionProfiles[0].Warnings = nil
	named := &p.Devices[0].FusionProfiles[1]
	named.Shape, named.ExtraParams = "layer 7", nil
	p.Devices[0].CPU.NUMANodes = nil
	data, err := Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range validateAt(data, now) {
		t.Errorf("%s [%s]", f, f.Rule)
	}
	if strings.Contains(string(data), "null") {
		t.Error("writes null")
	}
	if p.Warnings != nil {
		t.Error("changes what it writes")
	}
}
