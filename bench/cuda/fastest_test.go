//go:build linux && (amd64 || arm64)

package cuda

import "testing"

// The device is busy while the host launches an algorithm for the first time.
func TestTimedBehindLead(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	device := b.context.(*emulated)
	ws := &workspace{backend: b, context: device}
	before := device.launches
	_, err := ws.timed(func() error {
		if device.launches == before {
			t.Error("nothing was launched before")
		}
		return nil
	}, 1)
	check(t, err)
}
