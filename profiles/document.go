package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is a parsed JSON text that remembers where each value stands, so
// that a finding on a path can say its line and column.
type document struct {
	data []byte
	root *value
}

// value is one JSON value. Objects have as many keys as kids, arrays have kids
// only, and scalars hold a string, json.Number, bool or nil.
type value struct {
	kind   byte // '{', '[' or 0 for a scalar
	off    int  // byte offset of the first character
	keys   []string
	keyOff []int
	kids   []*value
	scalar any
}

// parse reads one JSON text. Beyond the grammar it refuses duplicate keys,
// which parsers resolve differently, and what the limits do not allow.
func parse(data []byte) (*document, *Finding) {
	if f := checkText(data); f != nil {
		return nil, f
	}
	doc := &document{data: data}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var syntax *json.SyntaxError
		off := len(data)
		// Offset counts the bytes read, the wrong one included.
		if errors.As(err, &syntax) && syntax.Offset > 0 && !strings.Contains(err.Error(), "unexpected end") {
			off = int(syntax.Offset) - 1
		}
		return nil, doc.at(off, "", ruleSyntax, err.Error())
	}

	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var (
		stack []*value          // open objects and arrays
		seen  []map[string]bool // keys of each open object
		key   *string           // name that waits for its value
	)
	for doc.root == nil || len(stack) > 0 {
		off := skip(data, int(dec.InputOffset()))
		tok, err := dec.Token()
		if err != nil {
			// Unreachable for text that passed Unmarshal; never a reason to panic.
			return nil, doc.at(off, "", ruleSyntax, err.Error())
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			stack, seen = stack[:len(stack)-1], seen[:len(seen)-1]
			continue
		}
		top := len(stack) - 1
		if top >= 0 && stack[top].kind == '{' && key == nil {
			name := tok.(string)
			if seen[top][name] {
				return nil, doc.at(off, "", ruleSyntax, fmt.Sprintf("duplicate key %q", name))
			}
			seen[top][name] = true
			stack[top].keys = append(stack[top].keys, name)
			stack[top].keyOff = append(stack[top].keyOff, off)
			key = &name
			continue
		}
		key = nil
		v := &value{off: off}
		if top >= 0 {
			stack[top].kids = append(stack[top].kids, v)
		} else {
			doc.root = v
		}
		switch tok := tok.(type) {
		case json.Delim:
			v.kind = byte(tok)
			stack = append(stack, v)
			seen = append(seen, nil)
			if v.kind == '{' {
				seen[top+1] = map[string]bool{}
			}
		case json.Number:
			if message := checkNumber(tok.String()); message != "" {
				return nil, doc.at(off, "", ruleLimit, message)
			}
			v.scalar = tok
		default:
			v.scalar = tok
		}
	}
	return doc, nil
}

// skip passes over what stands between two tokens.
func skip(data []byte, off int) int {
	for off < len(data) && strings.IndexByte(" \t\r\n,:", data[off]) >= 0 {
		off++
	}
	return off
}

// any converts to the form that schema validation takes.
func (v *value) any() any {
	switch v.kind {
	case '{':
		m := make(map[string]any, len(v.keys))
		for i, k := range v.keys {
			m[k] = v.kids[i].any()
		}
		return m
	case '[':
		a := make([]any, len(v.kids))
		for i, kid := range v.kids {
			a[i] = kid.any()
		}
		return a
	}
	return v.scalar
}

// child returns a member or an element by its reference token (RFC 6901), and
// the offset at which a reader looks for it: that of the key for a member.
func (v *value) child(token string) (*value, int) {
	switch v.kind {
	case '{':
		for i, k := range v.keys {
			if k == token {
				return v.kids[i], v.keyOff[i]
			}
		}
	case '[':
		// RFC 6901: no leading zeros, no sign.
		if i, err := strconv.Atoi(token); err == nil && strconv.Itoa(i) == token && i >= 0 && i < len(v.kids) {
			return v.kids[i], v.kids[i].off
		}
	}
	return nil, 0
}

// find resolves a JSON Pointer. Where the end is missing it returns the offset
// of the innermost value that exists, and false.
func (d *document) find(pointer string) (off int, ok bool) {
	v, off := d.root, d.root.off
	if pointer == "" {
		return off, true
	}
	if pointer[0] != '/' {
		return off, false
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		next, at := v.child(unescape.Replace(token))
		if next == nil {
			return off, false
		}
		v, off = next, at
	}
	return off, true
}

// pathAt is the JSON Pointer of the last value that starts before off.
func (d *document) pathAt(off int) string {
	v, path := d.root, ""
	for {
		i := len(v.kids) - 1
		for i >= 0 && v.kids[i].off >= off {
			i--
		}
		if i < 0 {
			return path
		}
		if v.kind == '{' {
			path += pointer(v.keys[i])
		} else {
			path += pointer(strconv.Itoa(i))
		}
		v = v.kids[i]
	}
}

// at makes a finding at a byte offset.
func (d *document) at(off int, path, rule, message string) *Finding {
	f := &Finding{Path: path, Rule: rule, Message: message}
	f.Line, f.Column = position(d.data, off)
	return f
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer joins reference tokens to a JSON Pointer.
func pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escape.Replace(t))
	}
	return b.String()
}

// position turns a byte offset into line and column, both from 1; the column
// counts characters, as editors do.
func position(data []byte, off int) (line, column int) {
	off = min(off, len(data))
	start := bytes.LastIndexByte(data[:off], '\n') + 1
	return bytes.Count(data[:off], []byte("\n")) + 1, utf8.RuneCount(data[start:off]) + 1
}
