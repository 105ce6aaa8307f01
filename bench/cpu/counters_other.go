//go:build !linux

package cpu

import "time"

// counterReader counts nothing on this system.
type counterReader struct{}

func (t *team) counterReader([]int) *counterReader { return &counterReader{} }

func (*counterReader) read() counters { return counters{when: time.Now()} }
