package bench

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// record keeps a failure in the profile, with a warning for each code that it is worth.
func (c *Calibrator) record(what string, err error) {
	if err == nil {
		return
	}
	c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{What: what, Reason: err.Error()})
	var codes []schema.Code
	told := map[schema.Code]failures{}
	for _, f := range failuresOf(err) {
		code := codeOf(f)
		if told[code] == nil {
			codes = append(codes, code)
		}
		told[code] = append(told[code], f)
	}
	for _, code := range codes {
		switch code {
		case "":
		case schema.OutOfMemory:
			c.warn(code, "", "%s was skipped: %v", what, told[code])
		case schema.BudgetSpent:
			c.warn(code, "", "%s was skipped: %v of %s", what, told[code], c.Options.Budget)
		default:
			c.warn(code, "", "%s: %v", what, told[code])
		}
	}
}

// warn adds a warning; path is relative to the device.
func (c *Calibrator) warn(code schema.Code, path, format string, args ...any) {
	c.warnings = append(c.warnings, schema.Warning{Code: code, Path: path, Message: fmt.Sprintf(format, args...)})
}

// warnAll adds the warnings of one entry of a list and returns its codes, never
// nil.
func (c *Calibrator) warnAll(list string, index int, codes []schema.Code, notes []string) []schema.Code {
	for i, code := range codes {
		c.warn(code, fmt.Sprintf("/%s/%d", list, index), "%s", notes[i])
	}
	return append([]schema.Code{}, codes...)
}

// warnAnew is warnAll of an entry that was measured again.
func (c *Calibrator) warnAnew(list string, index int, codes []schema.Code, notes []string) []schema.Code {
	path := fmt.Sprintf("/%s/%d", list, index)
	c.warnings = slices.DeleteFunc(c.warnings, func(w schema.Warning) bool { return w.Path == path })
	return c.warnAll(list, index, codes, notes)
}
