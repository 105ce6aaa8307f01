package hwdetect

import "testing"

func TestParseCache(t *testing.T) {
	for _, c := range []struct {
		level, kind, size string
		want              int64 // bytes; 0 if it is none
	}{
		{"1", "Data", "48K", 48 << 10},
		{"3", "Unified", "32M", 32 << 20},
		{"4", "Unified", "1G", 1 << 30},
		{"2", "Unified", "1", 1},
		{"9", "Unified", "9223372036854775807", 1<<63 - 1},
		{"0", "Unified", "32M", 0},
		{"10", "Unified", "32M", 0},
		{"one", "Data", "48K", 0},
		{"1", "Trace", "48K", 0},
		{"1", "Data", "0K", 0},
		{"1", "Data", "-1K", 0},
		{"1", "Data", "", 0},
		{"3", "Unified", "9007199254740993K", 0}, // beyond 63 bits
	} {
		got, ok := parseCache(c.level, c.kind, c.size)
		if ok != (c.want > 0) || ok && got.SizeBytes != c.want {
			t.Errorf("level %q, %q, %q: %d bytes, %t, want %d", c.level, c.kind, c.size, got.SizeBytes, ok, c.want)
		}
	}
}
