package profiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hwcal/schema"
)

// Load reads the profile in a file; "-" is standard input. What is wrong with
// the profile itself, rather than with the file, comes as an *InvalidError.
func Load(path string) (*schema.Profile, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return load(data, NameOf(path))
}

// Parse reads a profile from its text. It asks that the profile follows the
// schema, not that its figures agree: that is what Validate is for.
func Parse(data []byte) (*schema.Profile, error) { return load(data, "") }

func load(data []byte, name string) (*schema.Profile, error) {
	_, p, findings := open(data)
	if len(findings) > 0 {
		return nil, &InvalidError{Name: name, Findings: findings}
	}
	return p, nil
}

// open goes from text to a typed profile, as far as it gets: syntax and
// limits, version, schema, types.
func open(data []byte) (*document, *schema.Profile, []Finding) {
	doc, f := parse(data)
	if f != nil {
		return nil, nil, []Finding{*f}
	}
	if f := checkVersion(doc); f != nil {
		return nil, nil, []Finding{*f}
	}
	if findings := checkSchema(doc); len(findings) > 0 {
		return nil, nil, findings
	}
	p := new(schema.Profile)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, nil, []Finding{*doc.untyped(err)}
	}
	return doc, p, nil
}

const exampleDate = "a date such as 2026-01-02T15:04:05Z"

// untyped explains a value that JSON Schema admits and the Go type does not:
// 1.0 and 1e3 are integers to the schema, and so is 1e30.
func (d *document) untyped(err error) *Finding {
	var (
		typed *json.UnmarshalTypeError
		date  *time.ParseError
	)
	switch {
	case errors.As(err, &typed):
		off := int(typed.Offset)
		path := d.pathAt(off)
		at, _ := d.find(path)
		f := d.at(at, path, ruleSchema, "value does not fit the type of the field")
		f.Got, f.Want = typed.Value, typed.Type.String()
		if typed.Type.Kind().String() != "string" {
			f.Want += " written without fraction or exponent"
		}
		return f
	case errors.As(err, &date):
		const path = "/metadata/calibration_date" // the only date of the format
		at, _ := d.find(path)
		f := d.at(at, path, ruleSchema, "not a date of RFC 3339")
		f.Got, f.Want = quote(date.Value), exampleDate
		return f
	}
	return d.at(0, "", ruleSchema, fmt.Sprintf("cannot be decoded: %v", err))
}
