package schema

import "testing"

func TestFingerprint(t *testing.T) {
	machine := func() []Device {
		return []Device{
			{
				ID: "cpu0", Kind: CPU, Name: "A CPU", Vendor: "V",
				CPU: &CPUInfo{
					Family: 6, Model: 85, Stepping: 4, Sockets: 1, Cores: 2, Threads: 4, ISA: []string{"avx2", "fma"},
					Caches: []Cache{{Level: 1, Type: "data", SizeBytes: 32768, SharedBy: 2, Count: 2}, {Level: 2, Type: "unified", SizeBytes: 1 << 20, SharedBy: 2, Count: 2}},
				},
			},
			{ID: "cuda0", Kind: GPU, Name: "A GPU", GPU: &GPUInfo{UUID: "x", MemoryBytes: 40 << 30, ComputeCapability: "8.0"}},
		}
	}
	// Pinned: profiles in the field carry fingerprints of this form.
	const want = "057b1201ce12af43314fc0548e4651f81f9337a9f08f62f43d8e28dfe89dea8f"
	base := Fingerprint(machine())
	if base != want {
		t.Errorf("got %s, want %s", base, want)
	}
	for name, change := range map[string]func(d []Device){
		"isa order":   func(d []Device) { d[0].CPU.ISA = []string{"fma", "avx2"} },
		"cache order": func(d []Device) { c := d[0].CPU.Caches; c[0], c[1] = c[1], c[0] },
		"clock":       func(d []Device) { d[0].CPU.MaxMHz = 5000 },
		"used CPUs":   func(d []Device) { d[0].CPU.UsedCPUs = []int{1} },
		"microcode":   func(d []Device) { d[0].CPU.Microcode = "0x2" },
		"measured":    func(d []Device) { d[0].Summary.BandwidthGBps = 10; d[0].Compute = []Compute{{Operation: "gemm"}} },
		"uuid":        func(d []Device) { d[1].GPU.UUID = "y" },
		"power limit": func(d []Device) { d[1].GPU.PowerLimitWatts = 300 },
	} {
		d := machine()
		if change(d); Fingerprint(d) != base {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	for name, change := range map[string]func(d []Device){
		"name":     func(d []Device) { d[0].Name = "B CPU" },
		"stepping": func(d []Device) { d[0].CPU.Stepping = 5 },
		"cores":    func(d []Device) { d[0].CPU.Cores = 4 },
		"isa":      func(d []Device) { d[0].CPU.ISA = d[0].CPU.ISA[:1] },
		"cache":    func(d []Device) { d[0].CPU.Caches[1].SizeBytes *= 2 },
		"memory":   func(d []Device) { d[1].GPU.MemoryBytes *= 2 },
		"order":    func(d []Device) { d[0], d[1] = d[1], d[0] },
	} {
		d := machine()
		if change(d); Fingerprint(d) == base {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
	if Fingerprint(nil) != Fingerprint([]Device{}) {
		t.Error("nil and empty differ")
	}
}
