package profiles

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Finding is one thing that is wrong with a profile.
type Finding struct {
	// Path is a JSON Pointer (RFC 6901); empty for the whole document.
	Path string `json:"path"`
	// Rule is the stable name of the rule that found it.
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Got and Want are both values, in words; empty where the message says all.
	Got  string `json:"got,omitempty"`
	Want string `json:"want,omitempty"`
	// Line and Column count from 1; the column counts characters.
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Rules that look at the text rather than at the figures.
const (
	ruleSyntax  = "syntax"
	ruleLimit   = "limit"
	ruleVersion = "version"
	ruleSchema  = "schema"
)

// String is the finding in a line, without its position. The document may be
// hostile, so nothing of it reaches a terminal unquoted.
func (f Finding) String() string {
	s := f.Message
	if f.Path != "" {
		s = printable(f.Path) + ": " + s
	}
	switch {
	case f.Got != "" && f.Want != "":
		s += ": got " + f.Got + ", want " + f.Want
	case f.Got != "":
		s += ": got " + f.Got
	case f.Want != "":
		s += ": want " + f.Want
	}
	return s
}

// printable quotes text that holds anything but printable characters.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// quote quotes text of the document and keeps it short.
func quote(s string) string {
	const longest = 80
	if r := []rune(s); len(r) > longest {
		return strconv.Quote(string(r[:longest])) + "..."
	}
	return strconv.Quote(s)
}

// InvalidError says why a profile cannot be loaded.
type InvalidError struct {
	Name     string // of the input; may be empty
	Findings []Finding
}

func (e *InvalidError) Error() string {
	if len(e.Findings) == 0 {
		return "profiles: invalid profile"
	}
	f := e.Findings[0]
	s := "profiles: "
	if e.Name != "" {
		s += e.Name + ":"
	}
	s += fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f)
	if more := len(e.Findings) - 1; more > 0 {
		s += fmt.Sprintf(" (and %d more)", more)
	}
	return s
}
