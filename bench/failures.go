package bench

import (
	"errors"

	"hwcal/schema"
)

// failures are those of several cases of a step, each of which counts as if it stood alone.
type failures []error

func (f failures) Error() string   { return errors.Join(f...).Error() }
func (f failures) Unwrap() []error { return f }

// err is nil if there are none.
func (f failures) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// failuresOf are those that an error joins, or it alone; none of nil.
func failuresOf(err error) failures {
	var joined, all failures
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &joined):
		return failures{err}
	}
	for _, one := range joined {
		all = append(all, failuresOf(one)...)
	}
	return all
}

// codeOf is the warning that a failure is worth; empty if it is none, as where the device cannot do something.
func codeOf(failure error) schema.Code {
	for _, c := range []struct {
		err  error
		code schema.Code
	}{
		{ErrLost, schema.DeviceLost},
		{ErrMismatch, schema.Mismatch},
		{ErrMemory, schema.OutOfMemory},
		{ErrBudget, schema.BudgetSpent},
		{ErrUnsupported, ""},
		{errLeftOut, ""},
	} {
		if errors.Is(failure, c.err) {
			return c.code
		}
	}
	return schema.Failed
}
