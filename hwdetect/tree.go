package hwdetect

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is the folder that holds a machine's proc and sys. Its methods return
// the zero value for what is not there: on most machines most files are not.
type tree string

func (t tree) path(name string) string { return filepath.Join(string(t), filepath.FromSlash(name)) }

func (t tree) bytes(name string) []byte {
	b, err := os.ReadFile(t.path(name))
	if err != nil {
		return nil
	}
	return b
}

// line is the first line of a file without the space around it. A NUL ends it:
// device tree properties are C strings.
func (t tree) line(name string) string {
	b, _, _ := bytes.Cut(t.bytes(name), []byte("\n"))
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "")
}

// number is the integer that a file holds; false if it holds none.
func (t tree) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(t.line(name), 10, 64)
	return n, err == nil
}

// cpuList is the list of CPUs that a file holds, empty if it holds none.
func (t tree) cpuList(name string) []int {
	cpus, err := parseCPUList(t.line(name))
	if err != nil {
		return nil
	}
	return cpus
}

func (t tree) exists(name string) bool {
	_, err := os.Stat(t.path(name))
	return err == nil
}

// numbered lists the entries of a folder that start with prefix and go on with a
// number, as those numbers in ascending order.
func (t tree) numbered(dir, prefix string) []int {
	entries, err := os.ReadDir(t.path(dir))
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n < maxCPUs {
			found = append(found, n)
		}
	}
	return sortedSet(found)
}
