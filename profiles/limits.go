package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the input. A profile takes up to some MiB, as roomBytes says;
// these are far above it and keep hostile input from taking the memory.
const (
	MaxBytes  = 64 << 20 // of a file
	MaxDepth  = 64       // of nested objects and arrays
	maxValues = 1 << 20  // of objects, arrays and scalars: a value costs up to 200 bytes once read
	maxDigits = 64       // of characters of a number: exact arithmetic on longer ones is slow
)

// stdin stands for standard input where a file is wanted.
const stdin = "-"

// NameOf is what messages call a file that ReadFile reads.
func NameOf(path string) string {
	if path == stdin {
		return "standard input"
	}
	return path
}

// ReadFile reads a profile's bytes within the size limit; "-" is standard input.
func ReadFile(path string) ([]byte, error) {
	if path == stdin {
		return readAll(os.Stdin, NameOf(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("profiles: %s: is a directory", path)
		case info.Size() > MaxBytes:
			return nil, tooLarge(path)
		}
	}
	return readAll(f, path)
}

func readAll(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		// The reader's error may name the file already.
		var perr *os.PathError
		if errors.As(err, &perr) {
			err = perr.Err
		}
		return nil, fmt.Errorf("profiles: %s: %w", name, err)
	}
	if len(data) > MaxBytes {
		return nil, tooLarge(name)
	}
	return data, nil
}

func tooLarge(name string) error {
	return fmt.Errorf("profiles: %s: larger than 64 MiB, the limit", name)
}

// checkText refuses what is not JSON text at all, or too much of it, before
// any parser sees it.
func checkText(data []byte) *Finding {
	bad := func(rule, message string, off int) *Finding {
		f := &Finding{Rule: rule, Message: message}
		f.Line, f.Column = position(data, off)
		return f
	}
	switch {
	case len(data) > MaxBytes:
		return bad(ruleLimit, "larger than 64 MiB, the limit", 0)
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return bad(ruleSyntax, "starts with a byte order mark; save it as UTF-8 without one", 0)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return bad(ruleSyntax, "is UTF-16; save it as UTF-8", 0)
	case len(bytes.TrimSpace(data)) == 0:
		return bad(ruleSyntax, "is empty, want JSON", 0)
	}
	if !utf8.Valid(data) {
		off := 0
		for off < len(data) {
			r, size := utf8.DecodeRune(data[off:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			off += size
		}
		return bad(ruleSyntax, fmt.Sprintf("byte 0x%02x is not valid UTF-8", data[off]), off)
	}
	if off, message := checkShape(data); message != "" {
		return bad(ruleLimit, message, off)
	}
	return nil
}

// checkShape limits the nesting and the number of values, and returns where a
// limit is passed. It looks at brackets and commas outside of strings only,
// which is right for JSON and harmless for the rest: that fails in the parser.
func checkShape(data []byte) (off int, message string) {
	depth, values, inString := 0, 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			values++
			if depth++; depth > MaxDepth {
				return i, fmt.Sprintf("nested deeper than %d levels", MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
		if values > maxValues {
			return i, fmt.Sprintf("more than %d values", maxValues)
		}
	}
	return 0, ""
}

// checkNumber refuses a number that no float64 holds: 1e999 would become an
// infinity and 1e-999 a zero, and both a wrong figure.
func checkNumber(s string) string {
	if len(s) > maxDigits {
		return fmt.Sprintf("number of %d characters, the limit is %d", len(s), maxDigits)
	}
	f, err := strconv.ParseFloat(s, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") {
		return fmt.Sprintf("number %s is outside the range of a 64-bit float", s)
	}
	return ""
}
