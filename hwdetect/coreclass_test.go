package hwdetect

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// tier is a range of CPUs of one kind.
type tier struct {
	cpus     string
	mhz      int // highest clock
	capacity int // of arm64, 0: none
}

// tiers lays out the files of a machine of single-threaded cores.
func tiers(t *testing.T, online string, kinds map[string]string, all ...tier) tree {
	files := map[string]string{"sys/devices/system/cpu/online": online}
	for kind, cpus := range kinds {
		files["sys/devices/"+kind+"/cpus"] = cpus
	}
	for _, tier := range all {
		cpus, err := parseCPUList(tier.cpus)
		if err != nil {
			t.Fatal(err)
		}
		for _, cpu := range cpus {
			at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
			files[at+"topology/core_cpus_list"] = fmt.Sprint(cpu)
			files[at+"cpufreq/cpuinfo_max_freq"] = fmt.Sprint(tier.mhz * 1000)
			if tier.capacity > 0 {
				files[at+"cpu_capacity"] = fmt.Sprint(tier.capacity)
			}
		}
	}
	return layout(t, files)
}

func TestCoreClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		root tree
		cpus int
		want string // name, CPUs and highest clock of each class
		used []int  // the CPUs of the first workers
	}{
		{"Arrow Lake-H lists its LP-E cores", tiers(t, "0-15",
			map[string]string{"cpu_core": "0-5", "cpu_atom": "6-13", "cpu_lowpower": "14-15"},
			tier{"0-5", 5200, 0}, tier{"6-13", 4500, 0}, tier{"14-15", 2500, 0}),
			16, "P 0-5 5200, E 6-13 4500, LP-E 14-15 2500", []int{0, 1, 2, 3, 4, 5, 6}},
		{"Meteor Lake has them among its E cores", tiers(t, "0-15",
			map[string]string{"cpu_core": "0-5", "cpu_atom": "6-15"},
			tier{"0-5", 4800, 0}, tier{"6-13", 3800, 0}, tier{"14-15", 2500, 0}),
			16, "P 0-5 4800, E 6-13 3800, LP-E 14-15 2500", []int{0, 1, 2}},
		{"three tiers of arm64, the slow first", tiers(t, "0-7", nil,
			tier{"0-3", 1800, 250}, tier{"4-6", 2400, 700}, tier{"7", 2900, 1024}),
			8, "P 7 2900, E 4-6 2400, LP-E 0-3 1800", []int{7, 4, 5, 6, 0}},
		{"four tiers, of which two are one class", tiers(t, "0-3", nil,
			tier{"0", 1000, 100}, tier{"1", 1000, 200}, tier{"2", 2000, 500}, tier{"3", 3000, 1024}),
			4, "P 3 3000, E 2 2000, LP-E 0-1 1000", []int{3, 2, 0, 1}},
		{"favoured cores", tiers(t, "0-3", nil, tier{"0-2", 4900, 0}, tier{"3", 5000, 0}),
			4, "core 0-3 5000", []int{0, 1, 2, 3}},
		{"a clock that is not told", tiers(t, "0-3", nil, tier{"0-1", 4900, 0}, tier{"2", 2000, 0}),
			4, "core 0-3 4900", nil},
		{"a CPU that no list has", tiers(t, "0-3", map[string]string{"cpu_core": "1", "cpu_atom": "2-3"},
			tier{"1", 4900, 0}, tier{"2-3", 3800, 0}),
			4, "P 1 4900, E 2-3 3800", []int{1, 2, 3, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cpu := describe(t, System{Root: string(c.root), Arch: "amd64"}, Options{}).Devices[0].CPU
			if got := classText(cpu.CoreClasses); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := cpu.UsedCPUs[:len(c.used)]; len(c.used) > 0 && !cmp.Equal(got, c.used) || len(cpu.UsedCPUs) != c.cpus {
				t.Errorf("uses %v, want %v first of %d", cpu.UsedCPUs, c.used, c.cpus)
			}
		})
	}
}

func classText(classes []schema.CoreClass) string {
	text := ""
	for i, c := range classes {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s %g", c.Name, formatCPUList(c.CPUs), c.MaxMHz)
	}
	return text
}
