package schema

import "testing"

// The types of a full run come widest first: that of networks is the main one, not fp64, which many devices have at a
// small share of the rate.
func TestMainDType(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		measured []DType
		want     DType
	}{
		{CPU, DTypes(), FP32},
		{CPU, []DType{FP64, BF16}, FP64},
		{GPU, DTypes(), BF16},
		{GPU, []DType{FP64, FP32, FP16, INT8}, FP16},
		{GPU, []DType{FP64, FP32}, FP32},
		{GPU, []DType{FP64}, FP64},
	} {
		if got := MainDType(c.kind, c.measured); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.kind, c.measured, got, c.want)
		}
	}
}
