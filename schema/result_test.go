package schema

import "testing"

// What writes a twentieth or more of what it moves has the ceiling of all kernels, as has what does not say.
func TestOnlyReads(t *testing.T) {
	for _, c := range []struct {
		bytes, written int64
		want           bool
	}{{400, 19, true}, {400, 20, false}, {400, 400, false}, {400, 0, false}} {
		e := Compute{Bytes: c.bytes, BytesWritten: c.written}
		if got := e.OnlyReads(); got != c.want {
			t.Errorf("%d of %d bytes written: %t", c.written, c.bytes, got)
		}
	}
}
