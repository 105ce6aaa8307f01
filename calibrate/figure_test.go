package main

import "testing"

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{3870.4, "3870"}, {246.561, "246.6"}, {20.955, "20.95"}, {1.29, "1.290"}, {0.2125, "0.2125"},
		{0.00012345, "0.0001234"}, {12345.6, "12346"}, {123456789, "123456789"},
		{1e12, "1e+12"}, {0.00001, "1e-05"}, {-1.5, "-1.500"}, {0, "0"}, {1e308, "1e+308"}, {5e-324, "4.941e-324"},
	} {
		if got := figure(c.x); got != c.want {
			t.Errorf("figure(%g) = %q, want %q", c.x, got, c.want)
		}
	}
}

func TestCapacity(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 64: "64 bytes", 1 << 10: "1 KiB", 48 << 10: "48 KiB", 1536 << 20: "1.5 GiB", 1 << 62: "4 EiB",
	} {
		if got := capacity(bytes); got != want {
			t.Errorf("capacity(%d) = %q, want %q", bytes, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0.5: "0.5000 s", 24.75: "24.75 s", 99: "1m39s", 1e300: "1e+300 s"} {
		if got := seconds(s); got != want {
			t.Errorf("seconds(%g) = %q, want %q", s, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""}, {[]int{0}, "0"}, {[]int{0, 1, 2, 3}, "0-3"}, {[]int{0, 1, 8, 10, 11}, "0-1,8,10-11"}, {[]int{4, 2}, "4,2"},
	} {
		if got := ranges(c.numbers); got != c.want {
			t.Errorf("ranges(%v) = %q, want %q", c.numbers, got, c.want)
		}
	}
}
