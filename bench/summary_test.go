package bench

import (
	"testing"

	"hwcal/schema"
)

// The summary quotes the whole device, not fewer threads, however fast, nor what cannot be true.
func TestSummaryOfAllThreads(t *testing.T) {
	dev := fakeDevice()
	for _, e := range []struct {
		threads  int
		gflops   float64
		warnings []schema.Code
	}{{1, 500, nil}, {2, 390, nil}, {2, 400, nil}, {2, 600, []schema.Code{schema.Implausible}}} {
		for _, operation := range []string{"peak_fma", "matmul"} {
			dev.Compute = append(dev.Compute, schema.Compute{
				Operation: operation, DType: schema.FP32, Threads: e.threads, GFLOPS: &schema.Stat{Best: e.gflops}, Warnings: e.warnings,
			})
		}
	}
	if s := summarize(dev); s.PeakGFLOPS[schema.FP32] != 400 || s.MatmulGFLOPS[schema.FP32] != 400 {
		t.Errorf("peak %v, matmul %v, want 400 of both", s.PeakGFLOPS, s.MatmulGFLOPS)
	}
}
