package hwdetect

import "fmt"

// noRAPL is the reason why a machine has no energy counters, and the remedy.
func noRAPL(arch, hypervisor, found string) string {
	if arch != "amd64" {
		return fmt.Sprintf("%s: RAPL is of Intel and AMD processors, this is %s", found, arch)
	}
	if hypervisor != "" {
		return fmt.Sprintf("%s: the hypervisor (%s) passes no RAPL counters through; run on the host", found, hypervisor)
	}
	return found + ": load the kernel module intel_rapl_msr, which serves Intel and AMD, if the CPU has RAPL"
}
