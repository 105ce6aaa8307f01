package profiles

import (
	"fmt"
	"io"
	"strings"
)

// Report is what validation found in one file.
type Report struct {
	File     string    `json:"file"`
	Findings []Finding `json:"findings"`
}

// A format writes reports for one kind of reader. To add one, write a file
// format_*.go and name it here.
var formats = []struct {
	name  string
	write func(io.Writer, []Report) error
}{
	{"text", writeText},
	{"json", writeJSON},
	{"junit", writeJUnit},
	{"github", writeGitHub},
}

// Formats lists the names that WriteReports takes.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// WriteReports writes the reports in the format of that name.
func WriteReports(w io.Writer, format string, reports []Report) error {
	for _, f := range formats {
		if f.name == format {
			return f.write(w, reports)
		}
	}
	return fmt.Errorf("unknown format %q, want one of %s", format, strings.Join(Formats(), ", "))
}
