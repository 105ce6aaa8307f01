package bench

import (
	"math"
	"testing"
	"time"
)

// The highest power is that of one part of a window, not of all of it; a window of one part has none.
func TestHighestPower(t *testing.T) {
	for _, k := range []struct {
		watts []float64 // of each part, which is as long as the counters need
		want  float64
	}{{[]float64{10}, 0}, {[]float64{10, 30}, 30}, {[]float64{10, 40, 10}, 40}} {
		now, joules := time.Unix(0, 0), 5.0
		m := Counters{
			Joules: func() (float64, error) { return joules, nil }, Celsius: func() float64 { return 0 },
			Least: 100 * time.Millisecond, Now: func() time.Time { return now },
		}.Start()
		sum := 0.0
		for _, watts := range k.watts {
			now, joules, sum = now.Add(100*time.Millisecond), joules+watts/10, sum+watts/10
			m.Tick()
		}
		if e, ok := m.Stop(); !ok || math.Abs(e.MaxWatts-k.want) > 1e-9 || math.Abs(e.Joules-sum) > 1e-9 {
			t.Errorf("parts of %v W: %+v, want %g W at most and %g J", k.watts, e, k.want, sum)
		}
	}
}
