package hwdetect

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// coresPerSM is the number of fp32 lanes of a multiprocessor by compute
// capability (CUDA C++ Programming Guide, arithmetic instructions).
var coresPerSM = map[string]int{
	"7.0": 64, "7.2": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.7": 128, "8.9": 128,
	"9.0": 128, "10.0": 128, "10.3": 128, "12.0": 128,
}

// tensorRates are dense FLOP per cycle and SM, on tensor cores except for fp32
// (NVIDIA's V100, A100 and H100 architecture papers). Consumer chips of the same
// generations differ by model, so they have no entry; nor have H20 and H800, of which some units are slowed down.
var tensorRates = map[string]map[schema.DType]int{
	"7.0": {schema.FP64: 64, schema.FP32: 128, schema.FP16: 1024},
	"8.0": {schema.FP64: 128, schema.FP32: 128, schema.TF32: 1024, schema.FP16: 2048, schema.BF16: 2048, schema.INT8: 4096},
	"9.0": {schema.FP64: 256, schema.FP32: 256, schema.TF32: 2048, schema.FP16: 4096, schema.BF16: 4096, schema.FP8: 8192, schema.INT8: 8192},
}

// slowed are words of the names of devices that do not run at the rates of their generation.
var slowed = []string{"H20", "H800"}

// gpuPeaks computes FLOP per cycle x SMs x clock, and the memory bandwidth at
// two transfers a clock, of a device of that name.
func gpuPeaks(name string, g schema.GPUInfo) (t schema.Theoretical, missing []schema.Unavailable) {
	rates := tensorRates[g.ComputeCapability]
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(slowed, word) }) {
		rates = nil
	}
	if n := coresPerSM[g.ComputeCapability]; rates == nil && n > 0 {
		rates = map[schema.DType]int{schema.FP32: 2 * n}
	}
	if rates != nil && g.SMs > 0 && g.SMMaxMHz > 0 {
		t.PeakGFLOPS = map[schema.DType]schema.Peak{}
		for dtype, flop := range rates {
			t.PeakGFLOPS[dtype] = schema.Peak{
				Value:       float64(flop) * float64(g.SMs) * g.SMMaxMHz / 1e3,
				Source:      fmt.Sprintf("%d FLOP/cycle x %d SMs x %g MHz", flop, g.SMs, g.SMMaxMHz),
				Assumptions: []string{"all SMs at the highest clock, which the power limit may not allow", "dense operands"},
			}
		}
	} else {
		missing = append(missing, schema.Unavailable{What: "theoretical.peak_gflops",
			Reason: fmt.Sprintf("not computed for compute capability %q with %d SMs at %g MHz", g.ComputeCapability, g.SMs, g.SMMaxMHz)})
	}
	if g.MemoryBusBits > 0 && g.MemoryMaxMHz > 0 {
		t.BandwidthGBps = &schema.Peak{
			Value:       2 * g.MemoryMaxMHz * float64(g.MemoryBusBits) / 8 / 1e3,
			Source:      fmt.Sprintf("NVML: 2 x %g MHz x %d bits", g.MemoryMaxMHz, g.MemoryBusBits),
			Assumptions: []string{"two transfers a clock"},
		}
	} else {
		missing = append(missing, schema.Unavailable{What: "theoretical.bandwidth_gbps", Reason: "the driver does not tell the width or the clock of the memory bus"})
	}
	return t, missing
}
