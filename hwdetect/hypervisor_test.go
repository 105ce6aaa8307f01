package hwdetect

import (
	"testing"

	"hwcal/schema"
)

func TestHypervisor(t *testing.T) {
	dmi := func(vendor, product string) map[string]string {
		return map[string]string{"sys/class/dmi/id/sys_vendor": vendor, "sys/class/dmi/id/product_name": product}
	}
	for _, c := range []struct {
		name   string
		files  map[string]string
		id     CPUID
		want   string
		status schema.CheckStatus
	}{
		{"EC2", dmi("Amazon EC2", "m7i.24xlarge"), CPUID{Family: 6}, "kvm", schema.Warn},
		{"EC2 bare metal", dmi("Amazon EC2", "c5.metal"), CPUID{Family: 6}, "", schema.Pass},
		{"EC2 bare metal of a size", dmi("Amazon EC2", "m7i.metal-24xl"), CPUID{Family: 6}, "", schema.Pass},
		{"x86 that tells by CPUID alone", nil, CPUID{Family: 6}, "", schema.Pass},
		{"OpenStack on arm64", dmi("OpenStack Foundation", "OpenStack Nova"), CPUID{}, "kvm", schema.Warn},
		{"KubeVirt on arm64", dmi("KubeVirt", "None"), CPUID{}, "kvm", schema.Warn},
		{"arm64 with firmware tables", dmi("GIGABYTE", "R152-P30-00"), CPUID{}, "", schema.Pass},
		{"arm64 that tells nothing", nil, CPUID{}, "", schema.Unknown},
	} {
		m, err := System{Root: string(layout(t, c.files)), CPUID: c.id}.Detect(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Host.Hypervisor != c.want {
			t.Errorf("%s: %q, want %q", c.name, m.Host.Hypervisor, c.want)
		}
		for _, check := range m.Host.Preflight {
			if check.Name == "hypervisor" && check.Status != c.status {
				t.Errorf("%s: check is %+v, want %s", c.name, check, c.status)
			}
		}
	}
}
