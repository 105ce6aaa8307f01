//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hwcal/bench/sharedlib"
)

// openShared loads the first of the names that there is: where the loader looks, else in a
// CUDA toolkit. The error says where was looked.
func openShared(names ...string) (sharedlib.Library, error) {
	paths := names[:len(names):len(names)]
	for _, dir := range toolkitDirs() {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				paths = append(paths, path)
			}
		}
	}
	lib, err := sharedlib.Open(paths...)
	if err != nil {
		return 0, fmt.Errorf("%s not found, neither by the loader nor in %s: %w",
			strings.Join(names, ", "), strings.Join(toolkitDirs(), ", "), err)
	}
	return lib, nil
}

// forDriver keeps those of a library's names, which are for CUDA 13, 12 and so on, that a driver of that version
// supports: those of its own major version and of older ones.
func forDriver(driver int, names ...string) []string {
	const newest = 13
	return names[min(max(newest-driver/1000, 0), len(names)):]
}

// toolkitDirs are where the libraries of a CUDA toolkit lie.
func toolkitDirs() []string {
	var dirs []string
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(variable); home != "" {
			dirs = append(dirs, filepath.Join(home, "lib64"))
		}
	}
	return append(dirs, "/usr/local/cuda/lib64")
}
