package cuda

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hwcal/bench"
)

// One algorithm that fails costs no other, but for a device that is lost; why all failed is told.
func TestFastest(t *testing.T) {
	b := newEmulated(t, Capability{9, 0})
	ws := &workspace{backend: b, context: b.context}
	fails := func(err error) func() error { return func() error { return err } }
	sleeps := func(d time.Duration) func() error { return func() error { time.Sleep(d); return nil } }
	broken, refused := errors.New("EXECUTION_FAILED"), fmt.Errorf("tile: %w", bench.ErrUnsupported)
	lost := fmt.Errorf("misaligned: %w", bench.ErrLost)
	for name, c := range map[string]struct {
		candidates []func() error
		want       int
		err        error
	}{
		"one fails":   {[]func() error{fails(broken), sleeps(50 * time.Millisecond), sleeps(time.Millisecond), fails(refused)}, 2, nil},
		"all fail":    {[]func() error{fails(refused), fails(broken), fails(refused)}, 0, broken},
		"all refused": {[]func() error{fails(refused), fails(refused)}, 0, refused},
		"lost":        {[]func() error{sleeps(0), fails(lost), sleeps(0)}, 0, lost},
	} {
		got, err := ws.fastest(c.candidates)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v, want %d, %v", name, got, err, c.want, c.err)
		}
	}
}
