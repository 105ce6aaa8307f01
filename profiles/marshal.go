package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"hwcal/schema"
)

// Marshal is the text of a profile: indented, with a newline at the end, the
// same bytes for the same profile. Lists that are nil are written as empty
// ones, since the format knows no null. A figure that is NaN or infinite is an
// error.
func Marshal(p *schema.Profile) ([]byte, error) {
	if p == nil {
		return nil, errors.New("profiles: no profile to write")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(noNulls(reflect.ValueOf(p)).Interface()); err != nil {
		return nil, fmt.Errorf("profiles: write profile: %w", err)
	}
	return b.Bytes(), nil
}

// noNulls copies a value with every nil slice and map made empty. Optional
// fields are not affected: omitempty leaves out empty lists as well.
func noNulls(v reflect.Value) reflect.Value {
	t := v.Type()
	out := reflect.New(t).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(t.Elem()))
			out.Elem().Set(noNulls(v.Elem()))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(noNulls(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(t, v.Len()))
		for k, e := range v.Seq2() {
			out.SetMapIndex(k, noNulls(e))
		}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() { // its fields are its own
			return v
		}
		for i := range t.NumField() {
			out.Field(i).Set(noNulls(v.Field(i)))
		}
	default:
		return v
	}
	return out
}
