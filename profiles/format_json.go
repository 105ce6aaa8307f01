package profiles

import (
	"encoding/json"
	"io"
)

// writeJSON writes one array with an element a file; findings is empty, not
// null, for a valid one.
func writeJSON(w io.Writer, reports []Report) error {
	out := make([]Report, len(reports))
	for i, r := range reports {
		if r.Findings == nil {
			r.Findings = []Finding{}
		}
		out[i] = r
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
