package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestWrongImportsAreFound feeds the check trees with one wrong edge each.
func TestWrongImportsAreFound(t *testing.T) {
	for _, c := range []struct{ file, source, want string }{
		{"bench/run.go", `package bench; import "hwcal/hwdetect"`, "bench/run.go: bench may not import hwdetect"},
		{"bench/run.go", `package bench; import _ "hwcal/bench/cpu"`, "bench/run.go: bench may not import bench/cpu"},
		{"bench/run_test.go", `package bench_test; import "hwcal/bench/cpu"`, "bench/run_test.go: bench may not import bench/cpu"},
		{"hwdetect/a.go", `package hwdetect; import "hwcal/bench"`, "hwdetect/a.go: hwdetect may not import bench"},
		{"schema/a.go", `package schema; import "hwcal/profiles"`, "schema/a.go: schema may not import profiles"},
		{"bench/stat/a.go", `package stat; import b "hwcal/bench"`, "bench/stat/a.go: bench/stat may not import bench"},
		{"bench/ref/a.go", `package ref; import "hwcal/bench"`, "bench/ref/a.go: bench/ref may not import bench"},
		{"bench/cpu/a_arm64.go", "//go:build never\n\npackage cpu\n\nimport \"hwcal/hwdetect\"", "bench/cpu/a_arm64.go: bench/cpu may not import hwdetect"},
		{"profiles/a.go", `package profiles; import "hwcal/calibrate"`, "profiles/a.go: profiles may not import calibrate"},
		{"bench/npu/a.go", `package npu`, "bench/npu/a.go: no rule says what bench/npu may import; add one to mayImport"},
		{"a.go", `package hwcal`, "a.go: no rule says what . may import; add one to mayImport"},
		{"calibrate/a.go", `package main; import "hwcal"`, "calibrate/a.go: calibrate may not import ."},
	} {
		got, err := wrongImports(fstest.MapFS{c.file: {Data: []byte(c.source)}})
		if err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s with %s: %q, %v, want %q", c.file, c.source, got, err, c.want)
		}
	}
	fine, err := wrongImports(fstest.MapFS{
		"bench/a.go":           {Data: []byte(`package bench; import ("fmt"; "hwcal/schema")`)},
		"bench/a_test.go":      {Data: []byte(`package bench_test; import "hwcal/bench"`)},
		"bench/cpu/asm/go.mod": {Data: []byte("module hwcal/bench/cpu/asm")},
		"bench/cpu/asm/a.go":   {Data: []byte(`package main; import "hwcal/bench/cpu/asm/simd"`)},
	})
	if err != nil || len(fine) > 0 {
		t.Errorf("allowed imports: %q, %v", fine, err)
	}
}
