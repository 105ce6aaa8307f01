package profiles

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"hwcal/schema"
)

// compiled is the embedded schema, compiled once. It loads nothing: every
// reference stays within the file.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.ProfileSchema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat() // draft 2020-12 takes formats as remarks unless told otherwise
	if err := c.AddResource(schema.ID, doc); err != nil {
		return nil, err
	}
	return c.Compile(schema.ID)
})

var english = message.NewPrinter(language.English)

// checkSchema validates against the JSON Schema.
func checkSchema(d *document) []Finding {
	s, err := compiled()
	if err != nil {
		return []Finding{*d.at(0, "", ruleSchema, fmt.Sprintf("the schema of this build is broken: %v", err))}
	}
	err = s.Validate(d.root.any())
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return []Finding{*d.at(0, "", ruleSchema, err.Error())}
	}
	var findings []Finding
	d.collect(invalid, &findings)
	// The validator walks maps, whose order is not the document's.
	sort.SliceStable(findings, func(i, j int) bool { return findings[i].Path < findings[j].Path })
	findings = truncate(slices.Compact(findings))
	for i := range findings {
		off, _ := d.find(findings[i].Path)
		findings[i].Line, findings[i].Column = position(d.data, off)
	}
	return findings
}

// collect turns the leaves of the validator's tree into findings: the nodes
// above only say that something below is wrong.
func (d *document) collect(e *jsonschema.ValidationError, findings *[]Finding) {
	if len(*findings) > MaxFindings {
		return
	}
	add := func(path []string, message, got, want string) {
		*findings = append(*findings, Finding{
			Path: pointer(path...), Rule: ruleSchema, Message: message, Got: got, Want: want,
		})
	}
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(at, fmt.Sprintf("property %q is missing", name), "", "")
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(join(at, name), "unknown property", "", "")
		}
		return
	case *kind.PropertyNames:
		for _, path := range d.named(e, k.Property) {
			add(join(path, k.Property), "property name is not allowed here", quote(k.Property), allowedNames(e))
		}
		return
	case *kind.FalseSchema:
		add(at, "property does not belong here", "", "")
		return
	case *kind.Type:
		add(at, "wrong type", k.Got, strings.Join(k.Want, " or "))
		return
	case *kind.Enum:
		add(at, "value is not one of the enum", quoteAny(k.Got), oneOf(k.Want))
		return
	case *kind.Const:
		add(at, "wrong value", quoteAny(k.Got), quoteAny(k.Want))
		return
	case *kind.Pattern:
		add(at, "value does not match its pattern", quote(k.Got), k.Want)
		return
	case *kind.Format:
		add(at, fmt.Sprintf("not a %s of RFC 3339 (%v)", k.Want, k.Err), quoteAny(k.Got), exampleDate)
		return
	case *kind.Minimum:
		add(at, "value out of range", rational(k.Got), "at least "+rational(k.Want))
		return
	case *kind.Maximum:
		add(at, "value out of range", rational(k.Got), "at most "+rational(k.Want))
		return
	case *kind.ExclusiveMinimum:
		add(at, "value out of range", rational(k.Got), "more than "+rational(k.Want))
		return
	case *kind.MinItems:
		add(at, "too few items", fmt.Sprint(k.Got), fmt.Sprintf("at least %d", k.Want))
		return
	case *kind.MinLength:
		add(at, "text too short", fmt.Sprint(k.Got), fmt.Sprintf("at least %d characters", k.Want))
		return
	}
	if len(e.Causes) == 0 {
		add(at, e.ErrorKind.LocalizedString(english), "", "")
	}
	for _, cause := range e.Causes {
		d.collect(cause, findings)
	}
}

// named finds the objects with a property whose name was refused. Of the
// location of this one error the validator (v6.0.3) keeps only the length, the
// tokens being overwritten by what it visits next; the schema's location names
// the property that holds the object.
func (d *document) named(e *jsonschema.ValidationError, property string) [][]string {
	tokens := strings.Split(e.SchemaURL, "/")
	if len(tokens) < 2 {
		return nil
	}
	holder := tokens[len(tokens)-2]
	var found [][]string
	var walk func(v *value, path []string)
	walk = func(v *value, path []string) {
		if len(path) == len(e.InstanceLocation) {
			if slices.Contains(v.keys, property) && len(path) > 0 && path[len(path)-1] == holder {
				found = append(found, path)
			}
			return
		}
		for i, kid := range v.kids {
			if len(v.keys) > 0 {
				walk(kid, join(path, v.keys[i]))
			} else {
				walk(kid, join(path, strconv.Itoa(i)))
			}
		}
	}
	walk(d.root, nil)
	return found
}

// allowedNames digs out why a property name was refused.
func allowedNames(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		return oneOf(k.Want)
	case *kind.Pattern:
		return k.Want
	}
	for _, cause := range e.Causes {
		if s := allowedNames(cause); s != "" {
			return s
		}
	}
	return ""
}

// join copies, because the validator shares the array behind its locations.
func join(path []string, name string) []string {
	return append(append(make([]string, 0, len(path)+1), path...), name)
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return "one of " + strings.Join(words, ", ")
}

func quoteAny(v any) string {
	if s, ok := v.(string); ok {
		return quote(s)
	}
	return quote(fmt.Sprint(v))
}

func rational(r *big.Rat) string {
	f, _ := r.Float64()
	return number(f)
}
