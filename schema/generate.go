package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// JSON generates the JSON Schema of a profile from the Go types. The types are
// the source of the contract; what a struct tag cannot say is added here.
func JSON() ([]byte, error) {
	r := &jsonschema.Reflector{ExpandedStruct: true, Mapper: closedMap}
	s := r.Reflect(&Profile{})
	s.ID = ID
	s.Title = "hwcal hardware calibration profile"
	s.Description = "What a machine can really do, measured. Units are in the names: " +
		"gflops is 1e9 FLOP per second, gbps is 1e9 bytes per second, capacities are bytes. " +
		"What was not measured is absent, with its reason under unavailable."
	if p, ok := s.Properties.Get("$schema"); ok {
		p.Const = ID
	}
	deviceByKind(s.Definitions["Device"])
	powerToldOrReason(s.Definitions["Power"])

	compact, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema: generate: %w", err)
	}
	// encoding/json escapes these three for HTML; a person reads this file.
	for _, c := range []string{"<", ">", "&"} {
		compact = bytes.ReplaceAll(compact, fmt.Appendf(nil, `\u%04x`, c[0]), []byte(c))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("schema: generate: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// closedMap restricts the keys of maps, which the reflector leaves open: those
// of a map by element type to the DType enum, all others to snake_case names.
func closedMap(t reflect.Type) *jsonschema.Schema {
	if t.Kind() != reflect.Map {
		return nil
	}
	s := &jsonschema.Schema{Type: "object"}
	if t.Key() == reflect.TypeFor[DType]() {
		s.PropertyNames = &jsonschema.Schema{Ref: "#/$defs/DType"}
	} else {
		s.PropertyNames = &jsonschema.Schema{Type: "string", Pattern: "^[a-z][a-z0-9_]*$"}
	}
	switch elem := t.Elem(); elem.Kind() {
	case reflect.Struct:
		s.AdditionalProperties = &jsonschema.Schema{Ref: "#/$defs/" + elem.Name()}
	case reflect.Float64:
		// Every map of figures holds rates; a rate of 0 would be a placeholder.
		s.AdditionalProperties = &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"}
	case reflect.String:
		s.AdditionalProperties = &jsonschema.Schema{Type: "string", MinLength: ptr(uint64(1))}
	case reflect.Int64:
		s.AdditionalProperties = &jsonschema.Schema{Type: "integer"}
	default:
		panic("schema: no rule for maps of " + elem.String())
	}
	return s
}

// deviceByKind asks for the description that fits the kind and no other, and
// for an identifier of that kind.
func deviceByKind(device *jsonschema.Schema) {
	for _, k := range []struct {
		kind               Kind
		needs, bars, prefx string
	}{
		{CPU, "cpu", "gpu", "^cpu"},
		{GPU, "gpu", "cpu", "^cuda"},
	} {
		is := jsonschema.NewProperties()
		is.Set("kind", &jsonschema.Schema{Const: k.kind})
		then := jsonschema.NewProperties()
		then.Set("id", &jsonschema.Schema{Pattern: k.prefx})
		then.Set(k.bars, jsonschema.FalseSchema)
		device.AllOf = append(device.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: is, Required: []string{"kind"}},
			Then: &jsonschema.Schema{Properties: then, Required: []string{k.needs}},
		})
	}
}

// powerToldOrReason asks for meters, or for the reason why none tells anything: there may be
// meters that cannot be read.
func powerToldOrReason(power *jsonschema.Schema) {
	power.AnyOf = []*jsonschema.Schema{{Required: []string{"meters"}}, {Required: []string{"unavailable"}}}
}

func ptr[T any](v T) *T { return &v }
