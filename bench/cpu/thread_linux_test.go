package cpu

import "testing"

func TestMaskOf(t *testing.T) {
	for _, cpu := range []int{0, 63, 64, 1023, 1024, 1500} {
		if set := maskOf(cpu); !set.IsSet(cpu) || set.Count() != 1 {
			t.Errorf("the mask of CPU %d has %d CPUs", cpu, set.Count())
		}
	}
}
