package main

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"
)

// jsonFlag asks for what a script reads instead of what a person does.
func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
