package profiles

import (
	"encoding/xml"
	"fmt"
	"io"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a suite a file with a failed case a finding, or one case
// that passed. encoding/xml escapes, and replaces what XML cannot hold.
func writeJUnit(w io.Writer, reports []Report) error {
	var doc junitSuites
	for _, r := range reports {
		suite := junitSuite{Name: r.File, Tests: max(1, len(r.Findings)), Failures: len(r.Findings)}
		if len(r.Findings) == 0 {
			suite.Cases = []junitCase{{Class: r.File, Name: "valid", File: r.File}}
		}
		for _, f := range r.Findings {
			name := f.Rule
			if f.Path != "" {
				name += " " + printable(f.Path)
			}
			suite.Cases = append(suite.Cases, junitCase{
				Class: r.File, Name: name, File: r.File, Line: f.Line,
				Failure: &junitFailure{
					Type: f.Rule, Message: f.String(),
					Text: fmt.Sprintf("%s:%d:%d: %s", r.File, f.Line, f.Column, f),
				},
			})
		}
		doc.Suites = append(doc.Suites, suite)
	}
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("profiles: junit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}
