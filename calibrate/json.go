package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// jsonFlag asks for what a script reads instead of what a person does.
func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

// stem is the name of a file of JSON without its end.
func stem(file string) string {
	if end := filepath.Ext(file); strings.EqualFold(end, ".json") {
		return strings.TrimSuffix(file, end)
	}
	return file
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
