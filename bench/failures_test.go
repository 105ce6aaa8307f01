package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hwcal/schema"
)

// Each failure of a step is worth its own warning, whatever else failed beside it.
func TestFailuresOfAStep(t *testing.T) {
	none := fmt.Errorf("write: in a cache: %w", ErrUnsupported)
	for _, c := range []struct {
		err  error
		want []schema.Code
	}{
		{none, nil},
		{failures{none, errors.New("copy: driver error 700")}, []schema.Code{schema.Failed}},
		{fmt.Errorf("L3: %w", failures{none, fmt.Errorf("copy: %w", ErrLost)}), []schema.Code{schema.DeviceLost}},
		{failures{fmt.Errorf("a: %w", ErrMemory), fmt.Errorf("b: %w", ErrMismatch), fmt.Errorf("c: %w", ErrMemory)}, []schema.Code{schema.OutOfMemory, schema.Mismatch}},
	} {
		calibrator := fakeCalibrator(newFake(), schema.Quick)
		before := len(calibrator.Device.Unavailable)
		calibrator.record("bandwidth L3", c.err)
		var got []schema.Code
		for _, w := range calibrator.warnings {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, c.want) || len(calibrator.Device.Unavailable) != before+1 {
			t.Errorf("%v: warnings %v, want %v; unavailable %v", c.err, got, c.want, calibrator.Device.Unavailable)
		}
	}
}

// A point of a curve that crashes, or that the device is lost in, costs none before it.
func TestCurveKeepsItsPoints(t *testing.T) {
	for name, end := range map[string]func(f *fake){
		"crash": func(f *fake) {
			points := 0
			f.pages = func(int, Chain) float64 {
				if points++; points == 10 {
					panic("a bug")
				}
				return 1
			}
		},
		"loss": func(f *fake) { f.last = 10 },
	} {
		f := newFake()
		end(f)
		c := fakeCalibrator(f, schema.Default)
		c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
		err := c.curveStep(c.one()).attempt(context.Background(), 1)
		if len(c.Device.Bandwidth) < 9 || err == nil || errors.Is(err, ErrLost) != (name == "loss") {
			t.Errorf("%s: %d points are left of 9 before it, %v", name, len(c.Device.Bandwidth), err)
		}
	}
}

// A repetition that the time before the extra steps does not allow has another turn behind them.
func TestRefusedRepetitionComesAgain(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Default)
	c.deadline = f.now.Add(100 * time.Second)
	runs, told := 0, len(c.Device.Unavailable)
	again := []disturbedStep{{step{label: "pair", cost: time.Second, least: time.Second / 10, run: func(context.Context, float64) error {
		runs++
		return c.affordable(5 * time.Second)
	}}, disturbance{func() bool { return true }, true}}}
	again, ran := c.measureAgain(context.Background(), again, 0, f.now.Add(2*time.Second), 1)
	if len(again) != 1 || ran || runs != 1 {
		t.Fatalf("%d are left, ran %t after %d attempts", len(again), ran, runs)
	}
	if len(c.Device.Unavailable) != told {
		t.Errorf("a refused repetition is told: %v", c.Device.Unavailable)
	}
	if _, ran = c.measureAgain(context.Background(), again, 0, f.now.Add(100*time.Second), 1); !ran || runs != 2 {
		t.Errorf("ran %t after %d attempts", ran, runs)
	}
}

// Peaks are metered once: what that time told of energy stays if the host disturbed it, and another replaced its times.
func TestEnergyOfADisturbedPeakStays(t *testing.T) {
	f := newFake()
	f.watts, f.window = 40, 100*time.Millisecond
	c := fakeCalibrator(f, schema.Default)
	c.deadline = f.now.Add(time.Hour)
	for _, metered := range []bool{true, false} {
		f.reasons = nil
		if metered {
			f.reasons = []string{"a neighbour"}
		}
		if err := c.peakSteps(c.Options.DTypes, []Place{c.all()}, metered)[0].run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if e := c.computed[0].entry(); e.Energy == nil || c.computed[0].disturbed() {
		t.Errorf("energy %v, warnings %v", e.Energy, e.Warnings)
	}
}
