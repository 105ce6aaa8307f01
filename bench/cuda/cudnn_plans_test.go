//go:build linux && (amd64 || arm64)

package cuda

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/schema"
)

// Properties of devices in the form in which cuDNN 9.8 and later read them, to plan for a device that
// is not there.
var cudnnDevices = map[string]string{
	"H100": `{"deviceName":"NVIDIA H100 80GB HBM3","cudaDeviceId":0,"deviceVer":900,"driverVer":13000,"multiProcessorCount":132,"totalGlobalMem":85000000000,
"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"oversizedSharedMemoryPerBlock":0,
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"maxCtasPerSM":32,"warpSize":32,
"regsPerBlock":65536,"maxRegistersPerSM":65536,"l2CacheSize":52428800,"smClockRateKHz":1980000,"memClockRateKHz":2619000,"memoryBusWidth":5120,"smCountOrigin":0,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1}`,
	"A100": `{"deviceName":"NVIDIA A100-SXM4-80GB","cudaDeviceId":0,"deviceVer":800,"driverVer":13000,"multiProcessorCount":108,"totalGlobalMem":85000000000,
"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":166912,"reservedSharedMemoryPerBlock":1024,"oversizedSharedMemoryPerBlock":0,
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"maxCtasPerSM":32,"warpSize":32,
"regsPerBlock":65536,"maxRegistersPerSM":65536,"l2CacheSize":41943040,"smClockRateKHz":1410000,"memClockRateKHz":1593000,"memoryBusWidth":5120,"smCountOrigin":0,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1}`,
}

// The library itself takes the graphs of bench's patterns, and has plans for them on devices that are not
// there. It needs no device for that, only its files and those of NVRTC, where the loader finds them.
func TestCuDNNPlans(t *testing.T) {
	dir := filepath.Join(nvidiaDir(), "cudnn", "lib")
	if _, err := os.Stat(filepath.Join(dir, "libcudnn_engines_runtime_compiled.so.9")); nvidiaDir() == "" || err != nil {
		t.Skip("the library's plans were not checked: it is not in HWCAL_NVIDIA")
	}
	if _, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW); err != nil {
		// The library looks for that name, and finds what is loaded under it.
		none := buildStub(t, "libcuda_none", "-Wl,-soname,libcuda.so.1")
		must[uintptr](t)(purego.Dlopen(none, purego.RTLD_NOW|purego.RTLD_GLOBAL))
	}
	const kindDevice, deviceJSON, typeChar = 38, 2702, 24
	for name, properties := range cudnnDevices {
		b := newEmulated(t, Capability{9, 0})
		l, err := bindCuDNN(b.context, filepath.Join(dir, "libcudnn_graph.so.9"))
		check(t, err)
		check(t, l.check("create", l.newOne(kindDevice, &l.properties)))
		check(t, l.check("set", l.setOne(l.properties, deviceJSON, typeChar, int64(len(properties)), unsafe.Pointer(unsafe.StringData(properties)))))
		check(t, l.check("finalize", l.finalizeOne(l.properties)))
		for _, c := range []struct {
			pattern, shape string
			graph          func(*workspace, bench.Chain) (*graph, error)
			dtypes         []schema.DType
		}{
			{"Conv2d_Bias", "4x128x28x28x128x3x1x1x1", convolutionGraph, floats[1:]},
			{"Conv2d_ReLU", "1x64x56x56x256x1x1x0x1", convolutionGraph, floats[1:]},
			{"Conv2d_BatchNorm_ReLU", "1x64x56x56x128x3x2x1x1", convolutionGraph, floats[1:]},
			{"Conv2d_BatchNorm_Add_ReLU", "1x64x28x28x64x3x1x1x1", convolutionGraph, floats[1:]},
			{"Full_Attention", "1x12x197x64", attentionGraph, floats[3:]},
			{"Causal_Attention", "1x4x256x256x64", attentionGraph, floats[3:]},
			{"Causal_Attention", "1x2x128x512x128", attentionGraph, floats[3:]},
			{"Grouped_Query_Attention", "1x4x1x128x128x128", attentionGraph, floats[3:]},
			{"Decode_Attention", "1x32x8x512x128", attentionGraph, floats[3:]},
		} {
			for _, d := range c.dtypes {
				chain := build(t, c.pattern, c.shape)
				ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: chain, DType: d})).(*workspace)
				b.libraries[cuDNN] = l
				plans, err := must[*graph](t)(c.graph(ws, chain)).plans()
				delete(b.libraries, cuDNN)
				if err != nil {
					t.Errorf("%s %s %s %s: %v", name, c.pattern, c.shape, d, err)
				}
				for _, p := range plans {
					t.Logf("%s %s %s %s: %s, workspace %d", name, c.pattern, c.shape, d, p.name, p.workspace)
				}
				check(t, ws.Close())
			}
		}
	}
}
