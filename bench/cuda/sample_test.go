package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// entered counts how often something is launched outside of Do.
type entered struct {
	Context
	inside  bool
	outside int
}

func (e *entered) Do(f func() error) error {
	e.inside = true
	defer func() { e.inside = false }()
	return e.Context.Do(f)
}

func (e *entered) Launch(f Function, g Grid, args ...Arg) error {
	if !e.inside {
		e.outside++
	}
	return e.Context.Launch(f, g, args...)
}

// The launches of a sample share what it takes to make the context current.
func TestSamplesEnterOnce(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	e := &entered{Context: b.context}
	b.context = e
	c := bench.Chain{bench.ReLU(matrix("X", 5, 7))}
	ws, err := b.Open(bench.Case{Chain: c, DType: schema.FP32})
	if err != nil {
		t.Fatal(err)
	}
	k, err := ws.Bind(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Sample(ws, []bench.Kernel{k}, 3); err != nil || e.outside > 0 {
		t.Errorf("%d launches outside of Do: %v", e.outside, err)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
}
