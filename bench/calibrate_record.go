package bench

import (
	"errors"
	"fmt"
	"slices"

	"hwcal/schema"
)

// record keeps a failure in the profile.
func (c *Calibrator) record(what string, err error) {
	if err == nil {
		return
	}
	c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{What: what, Reason: err.Error()})
	switch {
	case errors.Is(err, ErrMismatch):
		c.warn(schema.Mismatch, "", "%s: %v", what, err)
	case errors.Is(err, ErrMemory):
		c.warn(schema.OutOfMemory, "", "%s was skipped: %v", what, err)
	case errors.Is(err, ErrLost):
		c.warn(schema.DeviceLost, "", "%s: %v", what, err)
	case errors.Is(err, ErrBudget):
		c.warn(schema.BudgetSpent, "", "%s was skipped: %v of %s", what, err, c.Options.Budget)
	case errors.Is(err, ErrUnsupported), errors.Is(err, errLeftOut): // of all that the step joins nothing is worse
	default:
		c.warn(schema.Failed, "", "%s: %v", what, err)
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
