package bench

import (
	"testing"

	"hwcal/schema"
)

// TestVerifiable names what is timed without having been verified: checksums of large arrays.
func TestVerifiable(t *testing.T) {
	defer func(work float64) { verifyWork = work }(verifyWork)
	verifyWork = 1 << 18
	read := func(mib, threads int64) Chain {
		return Chain{Streams[0].Op(NewStreamArrays(mib<<20/8, threads))}
	}
	tests := []struct {
		name  string
		chain Chain
		want  bool
	}{
		{"peak of a device in bf16", Chain{PeakFMA(roundsOf(schema.BF16, Place{}), 1)}, true},
		{"peak of a core in fp32", Chain{PeakFMA(roundsOf(schema.FP32, Place{Threads: 1}), 1)}, true},
		{"read of 8 MiB", read(8, 1), true},
		{"read of 32 MiB by four threads", read(32, 4), true},
		{"read of 16 MiB", read(16, 1), false},
	}
	for _, tt := range tests {
		if got := verifiable(tt.chain); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
