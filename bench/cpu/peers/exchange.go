//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// newExchange makes the folder through which inputs and results go: in memory,
// where the system has such a place.
func newExchange() (string, error) {
	const memory = "/dev/shm"
	if dir, err := os.MkdirTemp(memory, "hwcal-peers-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "hwcal-peers-")
}

// writeInputs writes the inputs of a case, and an output of the right size.
func writeInputs(dir string, ws bench.Workspace, c testCase) (files []string, err error) {
	output := filepath.Join(dir, "output")
	if err := writeSize(output, c.chain.Output().Elems()*c.dtype.Bytes()); err != nil {
		return nil, err
	}
	files = []string{output}
	for i, t := range c.chain.Inputs() {
		values, err := readTensor(ws, t)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(dir, fmt.Sprintf("input%d", i))
		if err := os.WriteFile(name, encode(values, c.dtype), 0o600); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	return files, nil
}

func writeSize(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

func readTensor(ws bench.Workspace, t *bench.Tensor) ([]float64, error) {
	values := make([]float64, t.Elems())
	return values, ws.Read(t, 0, values)
}

// encode gives the elements as the peers store them.
func encode(values []float64, d schema.DType) []byte {
	if d == schema.FP64 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(narrow))), 4*len(narrow))
}

// decode is the inverse of encode.
func decode(b []byte, d schema.DType) []float64 {
	if d == schema.FP64 {
		return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
	}
	values := make([]float64, len(b)/4)
	for i, v := range unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4) {
		values[i] = float64(v)
	}
	return values
}

// disagreement holds a peer's result against ours. The largest difference may be
// what adding up as many rounded terms as an element has can cost, relative to the
// largest element.
func disagreement(ours, theirs []float64, c testCase) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d elements, want %d", len(theirs), len(ours))
	}
	scale, worst := 0.0, 0.0
	for i, v := range ours {
		scale = max(scale, math.Abs(v))
		worst = max(worst, math.Abs(v-theirs[i])) // NaN stays
	}
	terms := float64(c.chain.FLOP()) / (2 * float64(len(ours)))
	if bound := terms * c.dtype.UnitRoundoff() * scale; !(worst <= bound) {
		return fmt.Errorf("differs from ours by %.2g, more than %.2g", worst, bound)
	}
	return nil
}
