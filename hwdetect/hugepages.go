package hwdetect

import "strings"

// hugepages is the setting of transparent huge pages: the word in brackets of
// "always [madvise] never".
func hugepages(t tree) string {
	_, rest, _ := strings.Cut(t.line("sys/kernel/mm/transparent_hugepage/enabled"), "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}
