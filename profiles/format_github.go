package profiles

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// GitHub's workflow commands end at a line end, and their properties at a
// comma or colon; what stands for itself is written as %XX.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes an annotation a finding; a valid file gets none.
func writeGitHub(w io.Writer, reports []Report) error {
	var b bytes.Buffer
	for _, r := range reports {
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "::error file=%s,line=%d,col=%d,title=%s::%s\n",
				githubProperty.Replace(r.File), f.Line, f.Column,
				githubProperty.Replace("profile "+f.Rule), githubData.Replace(f.String()))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
