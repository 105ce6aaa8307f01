package schema

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite profile.schema.json from the Go types")

func TestSchemaIsGenerated(t *testing.T) {
	got, err := JSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("profile.schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(ProfileSchema, string(got)); diff != "" {
		t.Errorf("profile.schema.json is not what the types say; run make schema (-committed +generated):\n%s", diff)
	}
	again, err := JSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(again) {
		t.Error("two generations differ")
	}
}

// units maps the end of a property's name to what its description must say.
var units = []struct{ suffix, says string }{
	{"_ms", "millisecond"},
	{"_seconds", "second"},
	{"nanoseconds", "nanosecond"},
	{"_bytes", "byte"},
	{"_mhz", "MHz"},
	{"_watts", "watt"},
	{"_microjoules", "microjoule"},
	{"_gflops", "GFLOPS"},
	{"gbps", "GB/s"},
	{"flops_per_byte", "FLOP per byte"},
	{"_bits", "bit"},
	{"_error", "unit of the result"},
}

// scale is what the description of a number says if its name has no unit.
var scale = regexp.MustCompile(`(?i)bytes|milliseconds|seconds|MHz|watts|bits|joules|GFLOPS|GB/s|number|ratio|share|CPUs|unit of|seed|FLOP`)

// TestSchemaIsClosed walks the whole schema: every property is described with
// its unit, no object takes unknown properties, every reference leads somewhere.
func TestSchemaIsClosed(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal([]byte(ProfileSchema), &root); err != nil {
		t.Fatal(err)
	}
	defs, _ := root["$defs"].(map[string]any)
	resolve := func(s map[string]any) map[string]any {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		def, ok := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if !ok {
			t.Errorf("%s leads nowhere", ref)
		}
		return def
	}

	properties := 0
	var walk func(at string, s map[string]any)
	walk = func(at string, s map[string]any) {
		resolve(s)
		if s["type"] == "object" {
			switch extra := s["additionalProperties"].(type) {
			case bool:
				if extra {
					t.Errorf("%s: takes any property", at)
				}
			case map[string]any:
				if s["propertyNames"] == nil {
					t.Errorf("%s: takes properties of any name", at)
				}
				walk(at+"/*", extra)
			default:
				t.Errorf("%s: takes any property", at)
			}
		}
		if s["type"] == nil && s["$ref"] == nil {
			t.Errorf("%s: has no type", at)
		}
		if items, ok := s["items"].(map[string]any); ok {
			walk(at+"/[]", items)
		} else if s["type"] == "array" {
			t.Errorf("%s: takes items of any type", at)
		}
		props, _ := s["properties"].(map[string]any)
		for _, name := range sortedKeys(props) {
			p := props[name].(map[string]any)
			properties++
			at := at + "/" + name
			says, _ := p["description"].(string)
			if says == "" {
				says, _ = resolve(p)["description"].(string)
			}
			if says == "" {
				t.Errorf("%s: has no description", at)
			}
			named := false
			for _, u := range units {
				if strings.HasSuffix(name, u.suffix) {
					named = true
					if !strings.Contains(strings.ToLower(says), strings.ToLower(u.says)) {
						t.Errorf("%s: description %q does not say %q", at, says, u.says)
					}
				}
			}
			if n := p["type"]; !named && (n == "number" || n == "integer") && !scale.MatchString(says) {
				t.Errorf("%s: description %q has no unit", at, says)
			}
			walk(at, p)
		}
	}
	walk("", root)
	for _, name := range sortedKeys(defs) {
		walk("/$defs/"+name, defs[name].(map[string]any))
	}
	if properties < 100 {
		t.Errorf("walked %d properties only", properties)
	}
}

// TestEnumsAreClosed holds the enums of the schema against the constants.
func TestEnumsAreClosed(t *testing.T) {
	var root struct {
		Defs map[string]struct{ Enum []string } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(ProfileSchema), &root); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DType", "Mode", "Verdict", "Code", "Level", "Kind", "CheckStatus"} {
		if len(root.Defs[name].Enum) < 2 {
			t.Errorf("%s: enum %q is not closed", name, root.Defs[name].Enum)
		}
	}
	if diff := cmp.Diff(root.Defs["DType"].Enum, dtypeNames()); diff != "" {
		t.Errorf("DType (-schema +DTypes):\n%s", diff)
	}
}

func dtypeNames() []string {
	var names []string
	for _, d := range DTypes() {
		names = append(names, string(d))
	}
	return names
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
