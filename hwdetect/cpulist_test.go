package hwdetect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCPUList(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []int
	}{
		{"", []int{}},
		{"0\n", []int{0}},
		{"0-3,8", []int{0, 1, 2, 3, 8}},
		{" 5 , 1-2 ", []int{1, 2, 5}},
		{"3,3,2-4", []int{2, 3, 4}},
		{"0-8:4", []int{0, 4, 8}},
	} {
		got, err := parseCPUList(c.in)
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%q: got %v, %v, want %v", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"a", "-1", "3-1", "1-", "0-4294967295", "99999999999999999999", "0-3:0", "1:x", "0x3"} {
		if got, err := parseCPUList(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-8:4", "", "0-65535,0-65535", "1-,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := parseCPUList(s)
		if err != nil {
			return
		}
		again, err := parseCPUList(formatCPUList(cpus))
		if err != nil || !cmp.Equal(cpus, again) {
			t.Errorf("%q: %v does not survive as %q: %v, %v", s, cpus, formatCPUList(cpus), again, err)
		}
	})
}
