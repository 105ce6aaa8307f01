package cuda

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hwcal/schema"
)

// counting is a compiler that tells what it was asked for, and a device that tells what it has loaded. It compiles
// all but broken.
type counting struct {
	Context
	mu       sync.Mutex
	compiled []Unit
	loaded   int
}

var broken = Unit{"gemm", schema.BF16}

func (*counting) Name() string { return "counting" }

func (c *counting) Compile(u Unit, _ Capability) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compiled = append(c.compiled, u)
	if u == broken {
		return nil, errors.New("does not compile")
	}
	return nil, nil
}

func (c *counting) Load([]byte) (Module, error) {
	c.loaded++
	return 1, nil
}

func (*counting) Function(Module, string) (Function, error) { return 1, nil }

// All units of a type, and those in none, are compiled and loaded ahead, each once; what failed says so when it is
// asked for.
func TestPrepare(t *testing.T) {
	c := &counting{}
	b := &Backend{context: c, compiler: c, capability: Capability{8, 0}, modules: map[Unit]loaded{}}
	done := make(chan struct{})
	close(done)
	if err := b.Prepare(done, []schema.DType{schema.BF16}); err != nil || len(c.compiled) != 0 {
		t.Errorf("interrupted, %d units were compiled: %v", len(c.compiled), err)
	}
	for range 2 {
		if err := b.Prepare(nil, []schema.DType{schema.BF16}); err != nil {
			t.Fatal(err)
		}
	}
	clock := Unit{Source: "clock"}
	for _, u := range []Unit{broken, {"attention", schema.BF16}, clock} {
		if n := count(c.compiled, u); n != 1 {
			t.Errorf("unit %s was compiled %d times", u, n)
		}
	}
	if i := slices.IndexFunc(c.compiled, func(u Unit) bool { return u.DType != schema.BF16 && u.DType != "" || u.Source == "peak_wgmma" }); i >= 0 {
		t.Errorf("unit %s was compiled for nothing", c.compiled[i])
	}
	compiled, loaded := len(c.compiled), c.loaded
	if loaded != compiled-1 {
		t.Errorf("%d units were loaded of %d, of which one does not compile", loaded, compiled)
	}
	if _, err := b.function(broken, "any"); err == nil {
		t.Error("what did not compile has a function")
	}
	if _, err := b.function(clock, "spin"); err != nil {
		t.Error(err)
	}
	if len(c.compiled) != compiled || c.loaded != loaded {
		t.Errorf("what was prepared was compiled or loaded again: %d and %d times", len(c.compiled)-compiled, c.loaded-loaded)
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
