//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"errors"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// clocked is a device that shows scripted clocks, the last one for ever.
type clocked struct {
	planned
	mhz      []uint64
	readings int
}

func (c *clocked) Attribute(a Attribute) (int, error) {
	if a == ClockRateKHz {
		return 2_000_000, nil
	}
	return c.planned.Attribute(a)
}

func (c *clocked) Download(mem []byte, _ Address) error {
	mhz := c.mhz[min(c.readings, len(c.mhz)-1)]
	c.readings++
	binary.LittleEndian.PutUint64(mem, mhz*spinNanoseconds/1000)
	binary.LittleEndian.PutUint64(mem[8:], spinNanoseconds)
	return nil
}

func TestSettledClock(t *testing.T) {
	const wait = settleNanoseconds / spinNanoseconds
	restless := make([]uint64, wait)
	for i := range restless {
		restless[i] = 1600 + 300*uint64(i%2)
	}
	for _, c := range []struct {
		name            string
		mhz             []uint64
		want            float64 // 0 if it does not settle
		readings, again int
	}{
		{"at work", []uint64{1980}, 1980, 3, 3},
		{"was idle", []uint64{345, 345, 345, 345, 900, 1965, 1980}, 1980, 8, 3},
		{"limited", []uint64{345, 345, 1200}, 1200, wait, 3},
		{"restless", restless, 0, wait, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			device := &clocked{planned: planned{capability: Capability{9, 0}, units: map[Unit]bool{}}, mhz: c.mhz}
			b := must[*Backend](t)(New(device, &device.planned, nil))
			mhz, err := b.Clock(bench.Place{}, true)
			if mhz != c.want || errors.Is(err, bench.ErrUnsettled) != (c.want == 0) || device.readings != c.readings {
				t.Errorf("%g MHz after %d readings, %v; want %g after %d", mhz, device.readings, err, c.want, c.readings)
			}
			device.readings, device.mhz = 0, c.mhz[len(c.mhz)-1:]
			if mhz, err := b.Clock(bench.Place{}, true); mhz != float64(device.mhz[0]) || err != nil || device.readings != c.again {
				t.Errorf("then %g MHz after %d readings, %v; want %d after %d", mhz, device.readings, err, device.mhz[0], c.again)
			}
			device.readings, device.mhz = 0, restless
			if _, err := b.Clock(bench.Place{}, true); !errors.Is(err, bench.ErrUnsettled) || (device.readings == agreeing) != (c.readings == wait) {
				t.Errorf("restless after %d readings, %v", device.readings, err)
			}
		})
	}
}

// hot is a watcher whose driver tells reasons for a low clock, and of another process.
type hot struct{ Watcher }

func (hot) Watch() func() bench.Observation {
	return func() bench.Observation {
		return bench.Observation{Disturbances: []bench.Disturbance{{Code: schema.Throttled}, {Code: schema.DeviceShared}, {Code: schema.PowerCapped}}}
	}
}

// What ran at the rated clock was not held down, whatever the driver still tells of before.
func TestReasonsOfBefore(t *testing.T) {
	for mhz, want := range map[uint64]int{1990: 1, 1900: 3} {
		device := &clocked{planned: planned{capability: Capability{9, 0}, units: map[Unit]bool{}}, mhz: []uint64{mhz}}
		b := must[*Backend](t)(New(device, &device.planned, hot{}))
		since := b.Watch(bench.Place{})
		must[float64](t)(b.Clock(bench.Place{}, false))
		if got := since().Disturbances; len(got) != want {
			t.Errorf("at %d of 2000 MHz: %v", mhz, got)
		}
		if got := b.Watch(bench.Place{})().Disturbances; len(got) != 3 {
			t.Errorf("of an unknown clock: %v", got)
		}
	}
}
