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

// The clock of a device that was idle rises within half a second of work. It has settled when `agreeing` readings
// in a row agree within clockAgree and are at least awakeShare of the rated clock.
const (
	settleNanoseconds = 500_000_000
	agreeing          = 3
	clockAgree        = 0.01
	awakeShare        = 0.75 // of the rated clock: a device at work runs at that or above, unless it is limited
	heldShare         = 0.97 // below that something holds the clock down
)

// Clock is the SM clock in MHz, one for the whole device: its mean while samples ran since the settled clock was last asked
// for, as the clock may drop under their load alone; without samples, that of a kernel that spins. The settled clock is the
// first reading of that kernel for which the three last agree within 1% and are at least three quarters of the rated clock.
// If the clock stays lower for half a second (it may be limited), readings that agree count as they are; if they do not (others
// may share the device), the error is ErrUnsettled. Either way later calls do not wait again.
func (b *Backend) Clock(_ bench.Place, settled bool) (mhz float64, err error) {
	if !settled {
		if b.lapped {
			mhz, err = b.lapClock()
		} else {
			mhz, err = b.readClock()
		}
		b.workedMHz = mhz
		return mhz, err
	}
	b.lapped = false
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
		case agree && (late || mhz >= awakeShare*b.ratedMHz):
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

// mostSMs is above the highest SM number of any device, whose numbers may include disabled SMs; lapBytes is the
// size of a lap of clock.cu.
const mostSMs, lapBytes = 1024, 32

// lap launches lap_begin or lap_end, between which each SM counts its cycles and the nanoseconds.
func (b *Backend) lap(kernel string) (err error) {
	if b.laps == 0 {
		if b.laps, err = b.context.Alloc(mostSMs * lapBytes); err != nil {
			return err
		}
	}
	if !b.lapped {
		if err := b.context.Set(b.laps, 0, mostSMs*lapBytes); err != nil {
			return err
		}
		b.lapped = true
	}
	f, err := b.function(Unit{Source: "clock"}, kernel)
	if err != nil {
		return err
	}
	return b.context.Launch(f, Grid{Blocks: [3]int{b.sms}}, Pointer(b.laps), Int(mostSMs))
}

// lapClock is the mean clock of all SMs over the samples counted by lap.
func (b *Backend) lapClock() (mhz float64, err error) {
	mem := make([]byte, mostSMs*lapBytes)
	if err := b.context.Download(mem, b.laps); err != nil {
		return 0, err
	}
	var cycles, nanoseconds uint64
	for lap := range slices.Chunk(mem, lapBytes) {
		cycles += binary.LittleEndian.Uint64(lap)
		nanoseconds += binary.LittleEndian.Uint64(lap[8:])
	}
	if cycles == 0 || nanoseconds == 0 {
		return 0, fmt.Errorf("cuda: %d cycles in %d ns of samples: %w", cycles, nanoseconds, bench.ErrUnsettled)
	}
	return float64(cycles) / float64(nanoseconds) * 1e3, nil
}
