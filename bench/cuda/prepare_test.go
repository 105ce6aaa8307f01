package cuda

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hwcal/schema"
)

// counting is a compiler that tells what it was asked for.
type counting struct {
	mu    sync.Mutex
	units []Unit
}

func (*counting) Name() string { return "counting" }

func (c *counting) Compile(u Unit, _ Capability) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units = append(c.units, u)
	return nil, errors.New("compiles nothing")
}

// All units of a type, and those in none, are compiled ahead, each once; what failed says so when
// it is asked for.
func TestPrepare(t *testing.T) {
	compiler := &counting{}
	b := &Backend{compiler: compiler, capability: Capability{8, 0}, images: map[Unit]image{}, modules: map[Unit]loaded{}}
	for range 2 {
		if err := b.Prepare([]schema.DType{schema.BF16}); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range []Unit{{"gemm", schema.BF16}, {"attention", schema.BF16}, {Source: "clock"}} {
		if n := count(compiler.units, u); n != 1 {
			t.Errorf("unit %s was compiled %d times", u, n)
		}
	}
	if i := slices.IndexFunc(compiler.units, func(u Unit) bool { return u.DType != schema.BF16 && u.DType != "" || u.Source == "peak_wgmma" }); i >= 0 {
		t.Errorf("unit %s was compiled for nothing", compiler.units[i])
	}
	if _, err := b.function(Unit{"gemm", schema.BF16}, "any"); err == nil {
		t.Error("what did not compile has a function")
	}
	if n := count(compiler.units, Unit{"gemm", schema.BF16}); n != 1 {
		t.Errorf("what was compiled ahead was compiled %d times", n)
	}
}

func count(units []Unit, u Unit) int {
	n := 0
	for _, o := range units {
		if o == u {
			n++
		}
	}
	return n
}
