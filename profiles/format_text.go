package profiles

import (
	"bytes"
	"fmt"
	"io"
)

// writeText writes a line a finding, in the form that editors jump to, and a
// line a file without findings.
func writeText(w io.Writer, reports []Report) error {
	var b bytes.Buffer
	for _, r := range reports {
		if len(r.Findings) == 0 {
			fmt.Fprintf(&b, "%s: ok\n", r.File)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "%s:%d:%d: %s [%s]\n", r.File, f.Line, f.Column, f, f.Rule)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
