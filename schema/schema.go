package schema

import _ "embed"

// ProfileSchema is the JSON Schema (draft 2020-12) of a profile, as JSON
// generates it and as "calibrate schema" prints it. It is embedded rather than
// generated at run time so that the committed file, which other tools read, is
// the one that validation uses.
//
//go:embed profile.schema.json
var ProfileSchema string
