//go:build linux

package main

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"testing"

	"hwcal/schema"
)

// A convolution of ones counts the taps of each pixel, of the channels of its group.
func TestOneDNNConvolvesGroups(t *testing.T) {
	runtime.LockOSThread()
	lib, _, err := loadOneDNN()
	if err != nil {
		t.Skip(err)
	}
	for groups, channels := range map[int]float64{1: 8, 2: 4, 8: 1} {
		r := request{kind: "conv", dtype: schema.FP32, dims: []int{1, 8, 3, 3, 8, 3, 1, 1, groups}}
		r.in = []buffer{ones(t, 8*3*3), ones(t, 8*8/groups*3*3), ones(t, 8)}
		r.out = ones(t, 8*3*3)
		task, err := lib.open(r)
		if err != nil {
			t.Fatalf("%d groups: %v", groups, err)
		}
		task.run()
		task.finish()
		taps := []float64{4, 6, 4, 6, 9, 6, 4, 6, 4}
		for i := range taps {
			taps[i] = channels*taps[i] + 1 // the bias
		}
		if got, want := decode(r.out, schema.FP32), slices.Repeat(taps, 8); !slices.Equal(got, want) {
			t.Errorf("%d groups: %v, want %v", groups, got, want)
		}
	}
}

func ones(t *testing.T, n int) buffer {
	t.Helper()
	b, err := newBuffer(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		binary.NativeEndian.PutUint32(b[4*i:], math.Float32bits(1))
	}
	return b
}
