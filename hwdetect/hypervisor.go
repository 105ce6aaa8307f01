package hwdetect

import (
	"slices"
	"strings"
)

// hypervisors maps the signatures of CPUID leaf 0x40000000 to usual names.
var hypervisors = map[string]string{
	"KVMKVMKVM": "kvm", "Linux KVM Hv": "kvm", "Microsoft Hv": "hyperv", "VMwareVMware": "vmware",
	"XenVMMXenVMM": "xen", "TCGTCGTCGTCG": "qemu", "bhyve bhyve": "bhyve", "ACRNACRNACRN": "acrn",
	"prl hyperv": "parallels", "lrpepyh vr": "parallels", "VBoxVBoxVBox": "virtualbox",
	"VirtualApple": "rosetta", "QNXQVMBSQG": "qnx",
}

// dmiHypervisors are vendors and products that firmware tables of virtual
// machines name, after systemd-detect-virt(1).
var dmiHypervisors = []struct{ text, name string }{
	{"KVM", "kvm"}, {"QEMU", "qemu"}, {"Amazon EC2", "kvm"}, {"Google Compute Engine", "kvm"},
	{"VMware", "vmware"}, {"innotek", "virtualbox"}, {"VirtualBox", "virtualbox"}, {"Xen", "xen"},
	{"Bochs", "bochs"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"}, {"Hyper-V", "hyperv"},
	{"Virtual Machine", "hyperv"}, {"Apple Virtualization", "apple"},
	{"OpenStack", "kvm"}, {"KubeVirt", "kvm"},
}

// hypervisor names what the machine runs on, empty if nothing does, and whether the
// machine would tell: x86 does by CPUID, others by their firmware tables if at all.
func hypervisor(t tree, info cpuInfo, id CPUID) (name string, told bool) {
	if sig := strings.Trim(id.Hypervisor, " \x00"); sig != "" {
		if name, ok := hypervisors[sig]; ok {
			return name, true
		}
		return strings.ToLower(sig), true
	}
	if name := t.line("sys/hypervisor/type"); name != "" {
		return name, true
	}
	told = id.or(info).Family > 0
	product := t.line("sys/class/dmi/id/product_name")
	for _, text := range []string{product, t.line("sys/class/dmi/id/sys_vendor"), t.line("sys/class/dmi/id/bios_vendor")} {
		told = told || text != ""
		for _, h := range dmiHypervisors {
			// Amazon's bare metal is called EC2 too: its products are c5.metal, m7i.metal-24xl.
			if strings.Contains(text, h.text) && !strings.Contains(product, ".metal") {
				return h.name, true
			}
		}
	}
	if compatible := t.line("proc/device-tree/hypervisor/compatible"); compatible != "" {
		return strings.TrimPrefix(compatible, "linux,"), true
	}
	if slices.Contains(info.flags, "hypervisor") {
		return "unknown", true
	}
	return "", told
}
