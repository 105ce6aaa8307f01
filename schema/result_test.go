package schema

import (
	"strings"
	"testing"
)

// A ceiling is the best rate that can be true, of workers that were apart only where there is no other.
func TestCeiling(t *testing.T) {
	rate := func(pattern string, gbps float64, warnings ...Code) Bandwidth {
		return Bandwidth{Pattern: pattern, GBps: Stat{Best: gbps}, Warnings: warnings}
	}
	entries := []Bandwidth{
		rate("read", 30), rate("write", 25, NoisyHost), rate("read4", 59, WorkersApart),
		rate("copy", 54, WorkersApart), rate("copy_nt", 91, WorkersApart, NoisyHost), rate("copy_nt4", 120, Cached), rate("triad", 130, WorkersApart, Implausible),
	}
	for kernels, want := range map[string]string{
		"": "read", "write": "write", "copy": "copy_nt", "copy_nt4": "", "triad": "", "none": "",
	} {
		got := ""
		if b := Ceiling(entries, func(b *Bandwidth) bool { return strings.HasPrefix(b.Pattern, kernels) }); b != nil {
			got = b.Pattern
		}
		if got != want {
			t.Errorf("the ceiling of %q is %q, want %q", kernels, got, want)
		}
	}
}

// What writes a twentieth or more of what it moves has the ceiling of all kernels, as has what does not say.
func TestOnlyReads(t *testing.T) {
	for _, c := range []struct {
		bytes, written int64
		want           bool
	}{{400, 19, true}, {400, 20, false}, {400, 400, false}, {400, 0, false}} {
		e := Compute{Bytes: c.bytes, BytesWritten: c.written}
		if got := e.OnlyReads(); got != c.want {
			t.Errorf("%d of %d bytes written: %t", c.written, c.bytes, got)
		}
	}
}
