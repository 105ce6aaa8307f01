package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"

	"hwcal/bench"
)

// spinNanoseconds is how long the kernel that reads the clock runs: long against the
// resolution of the timer, a microsecond on older devices.
const spinNanoseconds = 500_000

// The clock of a device that was idle rises within half a second of work. It has settled when so many
// readings agree, above what an idle device shows.
const (
	settleNanoseconds = 500_000_000
	agreeing          = 3
	clockAgree        = 0.01
	awakeShare        = 0.75 // of the rated clock
)

// Clock is the SM clock in MHz, of which a device has one; settled, once three readings in a row agree within
// 1%, and are no less than three quarters of the rated clock. A device that keeps below that for half a second, as
// somebody limited it, or is restless, as others share it, is not waited for again.
func (b *Backend) Clock(_ bench.Place, settled bool) (float64, error) {
	if !settled {
		return b.readClock()
	}
	var last []float64
	for spun := spinNanoseconds; ; spun += spinNanoseconds {
		mhz, err := b.readClock()
		if err != nil {
			return 0, err
		}
		last = append(last, mhz)
		last = last[max(0, len(last)-agreeing):]
		low, high := slices.Min(last), slices.Max(last)
		if len(last) < agreeing {
			continue
		}
		agree, late := high-low <= clockAgree*high, spun >= b.patience
		if late {
			b.patience = 0
		}
		switch {
		case agree && (late || mhz >= b.awakeMHz):
			return mhz, nil
		case late:
			return 0, fmt.Errorf("cuda: the clock moves between %.0f and %.0f MHz: %w", low, high, bench.ErrUnsettled)
		}
	}
}

// readClock gives the cycles of a kernel that spins, by clock64, over its time, by globaltimer.
func (b *Backend) readClock() (mhz float64, err error) {
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
