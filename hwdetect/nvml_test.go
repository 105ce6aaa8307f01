//go:build linux && cgo

package hwdetect

import (
	"errors"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// a100 is the mock of a DGX A100 with the answers that it leaves out.
func a100() *dgxa100.Server {
	server := dgxa100.New()
	for i := range server.Devices {
		d := server.Devices[i].(*dgxa100.Device)
		d.UUID = "GPU-0"
		d.GetNumGpuCoresFunc = func() (int, nvml.Return) { return 6912, nvml.SUCCESS }
		d.GetMaxClockInfoFunc = func(kind nvml.ClockType) (uint32, nvml.Return) {
			if kind == nvml.CLOCK_MEM {
				return 1215, nvml.SUCCESS
			}
			return 1410, nvml.SUCCESS
		}
		d.GetMemoryBusWidthFunc = func() (uint32, nvml.Return) { return 5120, nvml.SUCCESS }
		d.GetEnforcedPowerLimitFunc = func() (uint32, nvml.Return) { return 400000, nvml.SUCCESS }
		d.GetTotalEnergyConsumptionFunc = func() (uint64, nvml.Return) { return 123456, nvml.SUCCESS }
		d.GetEccModeFunc = func() (nvml.EnableState, nvml.EnableState, nvml.Return) {
			return nvml.FEATURE_ENABLED, nvml.FEATURE_ENABLED, nvml.SUCCESS
		}
	}
	return server
}

func TestListGPUs(t *testing.T) {
	server := a100()
	divided := server.Devices[1].(*dgxa100.Device)
	divided.MigMode = nvml.DEVICE_MIG_ENABLE
	divided.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	devices, err := listGPUs(server, "/")
	if err != nil || len(devices) != 8 {
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	if n := len(server.ShutdownCalls()); n != 1 {
		t.Errorf("%d calls of Shutdown", n)
	}
	yes, no := true, false
	want := &schema.GPUInfo{
		UUID: "GPU-0", MemoryBytes: 40 << 30, ComputeCapability: "8.0", SMs: 108,
		GraphicsMaxMHz: 1410, SMMaxMHz: 1410, MemoryMaxMHz: 1215, MemoryBusBits: 5120,
		PowerLimitWatts: 400, Driver: "550.54.15", MIG: &no, ECC: &yes,
	}
	if diff := cmp.Diff(want, devices[0].GPU); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if d := devices[0]; d.ID != "cuda0" || d.Name != "Mock NVIDIA A100-SXM4-40GB" || len(d.Power.Meters) != 1 || len(d.Unavailable) != 0 {
		t.Errorf("got %+v", d)
	}
	if !*devices[1].GPU.MIG || devices[7].ID != "cuda7" {
		t.Errorf("second device: MIG %v, last %s", *devices[1].GPU.MIG, devices[7].ID)
	}

	s := System{Root: t.TempDir(), GPUs: func() ([]schema.Device, error) { return listGPUs(a100(), "/") }}
	m, err := s.Detect(Options{})
	if err != nil || len(m.Devices) != 9 {
		t.Fatalf("%d devices, %v", len(m.Devices), err)
	}
	checkInvariants(t, m)
}

// A GPU that is divided is listed as its slices, each with its own share.
func TestListMIG(t *testing.T) {
	server := a100()
	server.DeviceGetCountFunc = func() (int, nvml.Return) { return 2, nvml.SUCCESS }
	divided := server.Devices[0].(*dgxa100.Device)
	divided.MigMode = nvml.DEVICE_MIG_ENABLE
	divided.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 3, nvml.SUCCESS }
	divided.GetMigDeviceHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if i == 1 {
			return nil, nvml.ERROR_NOT_FOUND
		}
		return &mock.Device{
			GetUUIDFunc: func() (string, nvml.Return) { return "MIG-" + string(rune('a'+i)), nvml.SUCCESS },
			GetNameFunc: func() (string, nvml.Return) { return "A100 MIG 3g.20gb", nvml.SUCCESS },
			GetAttributesFunc: func() (nvml.DeviceAttributes, nvml.Return) {
				return nvml.DeviceAttributes{MultiprocessorCount: 42, MemorySizeMB: 20096}, nvml.SUCCESS
			},
		}, nvml.SUCCESS
	}
	devices, err := listGPUs(server, "/")
	if err != nil || len(devices) != 3 {
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	for i, uuid := range []string{"MIG-a", "MIG-c", "GPU-0"} {
		if devices[i].GPU.UUID != uuid || devices[i].ID != "cuda"+string(rune('0'+i)) {
			t.Errorf("device %d is %s, %s, want %s", i, devices[i].ID, devices[i].GPU.UUID, uuid)
		}
	}
	d := devices[1]
	if d.GPU.SMs != 42 || d.GPU.MemoryBytes != 20096<<20 || d.GPU.ParentUUID != "GPU-0" || d.Power.Unavailable == "" || d.Theoretical.PeakGFLOPS != nil {
		t.Errorf("got %+v, %+v", d, d.GPU)
	}
	if d.Name != "A100 MIG 3g.20gb" {
		t.Errorf("named %q", d.Name)
	}
	if devices[2].GPU.ParentUUID != "" || devices[2].GPU.SMs != 108 {
		t.Errorf("the whole GPU beside it: %+v", devices[2].GPU)
	}
}

// Old drivers lack symbols and old cards answer "not supported": the figure is
// absent, and nothing is called that the library does not have.
func TestListGPUsPoorDriver(t *testing.T) {
	server := a100()
	server.LookupSymbolFunc = func(symbol string) error {
		switch symbol {
		case "nvmlDeviceGetNumGpuCores", "nvmlDeviceGetTotalEnergyConsumption":
			return errors.New("undefined symbol")
		}
		return nil
	}
	d := server.Devices[0].(*dgxa100.Device)
	d.GetMigModeFunc = func() (int, int, nvml.Return) { return 0, 0, nvml.ERROR_NOT_SUPPORTED }
	d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 250000, nvml.SUCCESS } // no counter
	server.DeviceGetHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if i > 0 {
			return nil, nvml.ERROR_GPU_IS_LOST
		}
		return d, nvml.SUCCESS
	}
	devices, err := listGPUs(server, "/")
	if err == nil || !strings.Contains(err.Error(), "the GPU with index 7 of NVML cannot be opened") || len(devices) != 1 {
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	g := devices[0]
	if g.GPU.MIG != nil || g.GPU.SMs != 0 || g.Power.Unavailable == "" || g.Theoretical.PeakGFLOPS != nil || len(d.GetNumGpuCoresCalls()) != 0 {
		t.Errorf("got %+v", g)
	}
}

// What no driver tells is absent, each with the reason.
func TestListGPUsMuteDriver(t *testing.T) {
	server := a100()
	server.DeviceGetCountFunc = func() (int, nvml.Return) { return 1, nvml.SUCCESS }
	server.LookupSymbolFunc = func(symbol string) error {
		if symbol == "nvmlDeviceGetCount_v2" || symbol == "nvmlDeviceGetHandleByIndex_v2" {
			return nil
		}
		return errors.New("undefined symbol")
	}
	devices, err := listGPUs(server, "/")
	if err != nil || len(devices) != 1 {
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	d := devices[0]
	var absent []string
	for _, u := range d.Unavailable {
		if u.Reason == "" {
			t.Errorf("no reason for %s", u.What)
		}
		absent = append(absent, u.What)
	}
	want := []string{"gpu.memory_bytes", "gpu.compute_capability", "gpu.sm_max_mhz", "theoretical.peak_gflops", "theoretical.bandwidth_gbps"}
	if diff := cmp.Diff(want, absent); diff != "" || d.Name == "" || d.Power.Unavailable == "" {
		t.Errorf("%q, power %+v, unavailable (-want +got):\n%s", d.Name, d.Power, diff)
	}
}

func TestListGPUsNoDriver(t *testing.T) {
	loaded := layout(t, map[string]string{"proc/driver/nvidia/version": "NVRM"})
	for _, c := range []struct {
		ret  nvml.Return
		root tree
		want string
	}{
		{nvml.ERROR_LIBRARY_NOT_FOUND, "none", "no NVIDIA driver"},
		{nvml.ERROR_LIBRARY_NOT_FOUND, loaded, "pass it into the container"},
		{nvml.ERROR_DRIVER_NOT_LOADED, "none", "kernel module is not loaded"},
		{nvml.ERROR_LIB_RM_VERSION_MISMATCH, "none", "returned 18"},
	} {
		// A bare mock: any call after Init would show.
		lib := &mock.Interface{InitFunc: func() nvml.Return { return c.ret }}
		devices, err := listGPUs(lib, string(c.root))
		if err == nil || !strings.Contains(err.Error(), c.want) || devices != nil {
			t.Errorf("init %d: %v, %v, want %q", c.ret, devices, err, c.want)
		}
		if len(lib.ShutdownCalls())+len(lib.DeviceGetCountCalls())+len(lib.ExtensionsCalls())+len(lib.ErrorStringCalls()) != 0 {
			t.Errorf("init %d: the library was called after a failed Init", c.ret)
		}
	}
	server := a100()
	server.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	if _, err := listGPUs(server, "/"); err == nil || !strings.Contains(err.Error(), "lists no GPU") {
		t.Errorf("no device: %v", err)
	}
}
