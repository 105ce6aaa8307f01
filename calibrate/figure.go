package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"hwcal/schema"
)

// absent stands for what was not measured; 0 never does.
const absent = "-"

// figure gives a number four digits that count, without an exponent where a
// person reads it better so.
func figure(x float64) string {
	size := math.Abs(x)
	if size < 1e-4 || size >= 1e9 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, 3-int(math.Floor(math.Log10(size)))), 64)
}

// measured is a figure, or absent where there is none.
func measured(x float64) string {
	if x == 0 {
		return absent
	}
	return figure(x)
}

// rounded is a figure without decimals, or absent.
func rounded(x float64) string {
	if x == 0 {
		return absent
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// percent of a share, or absent.
func percent(share float64) string {
	if share == 0 {
		return absent
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// interval is the 95% interval of the median.
func interval(s schema.Stat) string {
	return "[" + figure(s.CILow) + ", " + figure(s.CIHigh) + "]"
}

// capacity prints bytes in the largest binary unit of which there is one.
func capacity(bytes int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value, i := float64(bytes), 0
	for ; value >= 1024 && i < len(units)-1; i++ {
		value /= 1024
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + " " + units[i]
}

// seconds prints a duration as a person says it.
func seconds(s float64) string {
	if s < 60 {
		return figure(s) + " s"
	}
	if s > 1e9 { // more than a Duration holds, and than any run takes
		return figure(s) + " s"
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// plural counts things: 1 core, 2 cores.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// ranges prints numbers as Linux lists CPUs: 0-3,8.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// dims prints a shape as --shape takes it: 512x1024x1024.
func dims(shape []int64) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(parts, "x")
}

// join joins names of any string type.
func join[T ~string](names []T, separator string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, separator)
}
