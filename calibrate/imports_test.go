package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "hwcal"

// mayImport says which folders of the module a folder may import, tests included.
// Imports run one way, from the command line down to the schema; what is not
// named here is not allowed.
var mayImport = map[string][]string{
	"calibrate":          {"profiles", "hwdetect", "bench/cpu", "bench/cpu/external", "bench/cuda", "bench", "bench/stat", "schema"},
	"profiles":           {"bench/stat", "schema"},
	"hwdetect":           {"schema"},
	"bench/cpu/peers":    {"hwdetect", "bench/cpu", "bench", "bench/stat", "schema"},
	"bench/cpu/external": {"bench/cpu", "bench", "bench/sharedlib", "schema"},
	"bench/cpu":          {"bench", "bench/stat", "bench/ref", "bench/element", "schema", "bench/cpu/internal/emulate"},
	"bench/cuda":         {"bench/sharedlib", "bench", "bench/stat", "bench/ref", "bench/element", "schema"},
	"bench/element":      {"bench", "schema"},
	"bench":              {"bench/stat", "bench/ref", "schema"},
	"bench/sharedlib":    {},
	"bench/stat":         {"schema"},
	"bench/ref":          {"schema"},
	"schema":             {},

	"bench/cpu/internal/emulate": {}, // only tests import it: it needs cgo
}

// wrongImports lists the imports below root that mayImport does not allow, for
// every file whatever its build tags.
func wrongImports(root fs.FS) ([]string, error) {
	var wrong []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := path.Base(name)
			if name != "." && (strings.HasPrefix(base, ".") || base == "testdata") {
				return fs.SkipDir
			}
			// A module of its own, such as the generators of the assembly.
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); name != "." && !errors.Is(err, fs.ErrNotExist) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		folder := path.Dir(name)
		allowed, known := mayImport[folder]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s: no rule says what %s may import; add one to mayImport", name, folder))
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			ours, is := strings.CutPrefix(imported, module+"/")
			if imported == module {
				ours, is = ".", true
			}
			ownTest := ours == folder && strings.HasSuffix(name, "_test.go")
			if is && !ownTest && !slices.Contains(allowed, ours) {
				wrong = append(wrong, fmt.Sprintf("%s: %s may not import %s", name, folder, ours))
			}
		}
		return nil
	})
	return wrong, err
}

func TestImportsRunOneWay(t *testing.T) {
	wrong, err := wrongImports(os.DirFS(filepath.FromSlash("..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestMayImportHasNoCycle keeps the rules themselves one-way.
func TestMayImportHasNoCycle(t *testing.T) {
	var visit func(folder string, trail []string)
	visit = func(folder string, trail []string) {
		if slices.Contains(trail, folder) {
			t.Fatalf("the rules go round: %s", strings.Join(append(trail, folder), " -> "))
		}
		if _, known := mayImport[folder]; !known {
			t.Errorf("no rule for %s", folder)
		}
		for _, next := range mayImport[folder] {
			visit(next, append(slices.Clone(trail), folder))
		}
	}
	for folder := range mayImport {
		visit(folder, nil)
	}
}
