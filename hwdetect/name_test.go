package hwdetect

import (
	"strings"
	"testing"

	"hwcal/schema"
)

func TestHardwareName(t *testing.T) {
	cpu := func(name string, sockets int) schema.Device {
		return schema.Device{ID: "cpu0", Name: name, CPU: &schema.CPUInfo{Sockets: sockets}}
	}
	gpu := schema.Device{ID: "cuda0", Name: "NVIDIA A100-SXM4-40GB"}
	for _, c := range []struct {
		devices []schema.Device
		want    string
		slug    string
	}{
		{nil, "unknown hardware", "unknown-hardware"},
		{[]schema.Device{cpu("Intel(R) Xeon(R) Processor @ 2.50GHz", 1)}, "Intel Xeon Processor @ 2.50GHz", "intel-xeon-processor-2.50ghz"},
		{[]schema.Device{cpu("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", 2), gpu, gpu}, "2x Intel Xeon Gold 6248 @ 2.50GHz + 2x NVIDIA A100-SXM4-40GB", "2x-intel-xeon-gold-6248-2.50ghz-2x-nvidia-a100-sxm4-40gb"},
		{[]schema.Device{cpu("AMD Ryzen 9 5950X 16-Core Processor", 1), gpu}, "AMD Ryzen 9 5950X + NVIDIA A100-SXM4-40GB", "amd-ryzen-9-5950x-nvidia-a100-sxm4-40gb"},
	} {
		got := HardwareName(c.devices)
		if got != c.want || Slug(got) != c.slug {
			t.Errorf("got %q, %q, want %q, %q", got, Slug(got), c.want, c.slug)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"": "unknown", "///": "unknown", "../../etc/passwd": "etc-passwd", "CON": "con", "a.b 1.5": "a-b-1.5",
		" -x- ": "x", "Größe ½": "gr-e", "1..2": "1-2", "a\x00b": "a-b",
	} {
		if got := Slug(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := Slug(strings.Repeat("ab ", 100)); len(got) > 100 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
