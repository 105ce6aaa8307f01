//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

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
	if err := writeSize(output, c.chain.Output().Elems()*c.dtype.SumBytes()); err != nil {
		return nil, err
	}
	files = []string{output}
	for i, t := range c.chain.Inputs() {
		values, err := readTensor(ws, t)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(dir, fmt.Sprintf("input%d", i))
		if err := os.WriteFile(name, encode(values, c.dtype, t.Fill), 0o600); err != nil {
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

// sumRoundoff is the unit roundoff of the type that a dtype accumulates in.
func sumRoundoff(d schema.DType) float64 {
	switch d {
	case schema.FP64:
		return d.UnitRoundoff()
	case schema.INT8:
		return 0 // int32, exact
	}
	return schema.FP32.UnitRoundoff()
}

// encode gives the elements of an input as the peers store them. They come from a
// tensor of the dtype, so that nothing is rounded.
func encode(values []float64, d schema.DType, fill bench.Fill) []byte {
	b := make([]byte, 0, int64(len(values))*max(d.Bytes(), bench.LabelBytes))
	for _, v := range values {
		switch {
		case fill.Classes() > 0:
			b = binary.NativeEndian.AppendUint32(b, uint32(v))
		case d == schema.FP64:
			b = binary.NativeEndian.AppendUint64(b, math.Float64bits(v))
		case d == schema.FP32:
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case d == schema.BF16:
			b = binary.NativeEndian.AppendUint16(b, uint16(math.Float32bits(float32(v))>>16))
		case d == schema.INT8:
			b = append(b, byte(int8(v)))
		}
	}
	return b
}

// decode reads a result of the dtype.
func decode(b []byte, d schema.DType) []float64 {
	values := make([]float64, len(b)/int(d.SumBytes()))
	for i := range values {
		switch d {
		case schema.FP64:
			values[i] = math.Float64frombits(binary.NativeEndian.Uint64(b[8*i:]))
		case schema.INT8:
			values[i] = float64(int32(binary.NativeEndian.Uint32(b[4*i:])))
		default:
			values[i] = float64(math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:])))
		}
	}
	return values
}

// functionRoundings is the error of a transcendental function in units of the roundoff, of
// ours and of theirs, and of the few roundings around it.
const functionRoundings = 8

// disagreement compares a peer's result with ours. Relative to the largest element, the largest
// difference may be the rounding error of a sum of as many terms as an element has, over all
// operations.
func disagreement(ours, theirs []float64, c testCase) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d elements, want %d", len(theirs), len(ours))
	}
	scale, worst := 0.0, 0.0
	for i, v := range ours {
		scale = max(scale, math.Abs(v))
		worst = max(worst, math.Abs(v-theirs[i])) // NaN stays
	}
	terms := 0.0
	for _, op := range c.chain {
		terms += float64(op.FLOP) / (2 * float64(op.Out.Elems()))
	}
	if terms > 0 {
		terms += functionRoundings
	}
	roundoff := terms * sumRoundoff(c.dtype)
	if c.dtype == schema.BF16 {
		roundoff += 2 * c.dtype.UnitRoundoff() // either may leave its results in bf16
	}
	if bound := roundoff * scale; !(worst <= bound) {
		return fmt.Errorf("differs from ours by %.2g, more than %.2g", worst, bound)
	}
	return nil
}
