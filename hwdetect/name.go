package hwdetect

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"hwcal/schema"
)

// trademarks are the parts of a CPU's name that name nothing.
var trademarks = regexp.MustCompile(`\((?i:R|TM|C)\)|[®™]|\bCPU\b|\b[0-9]+-Core Processor\b|\bwith Radeon.*`)

// HardwareName is a readable name of the whole: "2x Intel Xeon Gold 6248 @
// 2.50GHz + 8x NVIDIA A100-SXM4-40GB".
func HardwareName(devices []schema.Device) string {
	var parts []string
	count := map[string]int{}
	for _, d := range devices {
		name := strings.Join(strings.Fields(trademarks.ReplaceAllString(d.Name, " ")), " ")
		if name == "" {
			name = d.ID
		}
		n := 1
		if d.CPU != nil {
			n = d.CPU.Sockets
		}
		if count[name] == 0 {
			parts = append(parts, name)
		}
		count[name] += n
	}
	for i, name := range parts {
		if count[name] > 1 {
			parts[i] = fmt.Sprintf("%dx %s", count[name], name)
		}
	}
	if len(parts) == 0 {
		return "unknown hardware"
	}
	return strings.Join(parts, " + ")
}

// Slug turns a name into one fit for a file on any system: lower-case ASCII
// letters, digits, single dashes, and dots between digits; at most 100 bytes.
func Slug(name string) string {
	runes := []rune(strings.ToLower(name))
	digit := func(i int) bool { return i >= 0 && i < len(runes) && runes[i] >= '0' && runes[i] <= '9' }
	var b strings.Builder
	dash := false
	for i, r := range runes {
		keep := r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '.' && digit(i-1) && digit(i+1)
		if !keep {
			dash = b.Len() > 0
			continue
		}
		if b.Len() >= 98 {
			break
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "unknown"
	}
	return b.String()
}
