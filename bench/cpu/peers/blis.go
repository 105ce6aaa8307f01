//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/klauspost/cpuid/v2"
)

func loadBLIS() (library, string, error) {
	lib, err := dlopen("libblis.so.4", "libblis.so.5", "libblis.so.3", "libblis.so", "libblis-mt.so")
	if err != nil {
		return nil, "", err
	}
	var initialize func()
	var version func() string
	var arch func() int32
	var archName func(id int) string
	if err := lib.bind(map[string]any{"bli_init": &initialize, "bli_info_get_version_str": &version, "bli_arch_query_id": &arch, "bli_arch_string": &archName}); err != nil {
		return nil, "", err
	}
	note, err := forceBLIS(archName)
	if err != nil {
		return nil, "", err
	}
	initialize() // asked before, BLIS does not know the architecture that it was told
	var c cblas
	return &c, fmt.Sprintf("BLIS %s, kernels for %s%s", version(), archName(int(arch())), note), c.load(lib)
}

// forceBLIS makes BLIS use its AVX-512 kernels where the CPU has AVX-512. BLIS picks
// kernels by the model and name of the CPU, and takes newer or virtual ones for lesser
// ones. To be called before BLIS first asks for the architecture.
func forceBLIS(archName func(id int) string) (note string, err error) {
	const variable = "BLIS_ARCH_TYPE"
	if os.Getenv(variable) != "" || !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		return "", nil
	}
	id, found := skxOf(archName)
	if !found {
		return "", nil
	}
	value := strconv.Itoa(id)
	return fmt.Sprintf(" (%s=%s)", variable, value), setenv(variable, value)
}

// skxOf finds the architecture whose kernels need AVX-512 alone. A BLIS that knows Zen 4, AMD's own, has
// AVX-512 kernels for that, finds them itself, and ends the process where it was built without those of skx.
func skxOf(archName func(id int) string) (skx int, found bool) {
	const most = 64 // architectures; names of unknown ones may be anything
	for id := range most {
		switch archName(id) {
		case "skx":
			skx, found = id, true
		case "zen4":
			return 0, false
		case "generic": // the last
			return skx, found
		}
	}
	return skx, found
}
