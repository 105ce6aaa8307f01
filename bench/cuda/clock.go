package cuda

import (
	"encoding/binary"
	"fmt"

	"hwcal/bench"
)

// spinNanoseconds is how long the kernel that reads the clock runs: long against the
// resolution of the timer, a microsecond on older devices.
const spinNanoseconds = 500_000

// Clock is the SM clock in MHz: the cycles of a kernel that spins, by clock64, over its nanoseconds, by
// globaltimer. A device has one; settled or not is the same.
func (b *Backend) Clock(bench.Place, bool) (float64, error) {
	if err := b.spin(spinNanoseconds); err != nil {
		return 0, err
	}
	mem := make([]byte, 16)
	if err := b.context.Download(mem, b.spinner); err != nil {
		return 0, err
	}
	cycles, nanoseconds := binary.LittleEndian.Uint64(mem), binary.LittleEndian.Uint64(mem[8:])
	if cycles == 0 || nanoseconds < spinNanoseconds {
		return 0, fmt.Errorf("cuda: %d cycles in %d ns: %w", cycles, nanoseconds, bench.ErrUnsettled)
	}
	return float64(cycles) / float64(nanoseconds) * 1e3, nil
}

// spin keeps the device busy, on one thread.
func (b *Backend) spin(nanoseconds int64) error {
	f, err := b.function(Unit{Source: "clock"}, "spin")
	if err != nil {
		return err
	}
	if b.spinner == 0 {
		if b.spinner, err = b.context.Alloc(16); err != nil {
			return err
		}
	}
	return b.context.Launch(f, Grid{}, Pointer(b.spinner), Long(nanoseconds))
}
