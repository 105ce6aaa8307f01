package cpu

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// everyNontemporal are all ways to pass the caches.
var everyNontemporal = []nontemporal{cached, pastCaches, farAhead}

// Where a result is stored is chosen once for a workspace: both sides of a control are the
// same code, whatever a second trial would say.
func TestStoringIsChosenOnce(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		if !hasFarKernels(isa, schema.FP32) {
			t.Skip("there is one way to store")
		}
		testStoringIsChosenOnce(t, isa, "relu", "1x64x128", pastCaches, farAhead)
		testStoringIsChosenOnce(t, isa, "Residual_LayerNorm", "63x129", pastCaches)
	})
}

func testStoringIsChosenOnce(t *testing.T, isa ISA, name, shape string, ways ...nontemporal) {
	b := testBackend(t, isa)
	b.caches.L2 = 16 << 10
	c := caseOf(t, name, shape, schema.FP32, 1)
	opened, err := b.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ws := opened.(*workspace)
	first := c.Chain[:1]
	key := triedKey{ws.isa, first.String(), first.Output()}
	implementation := func() string {
		k, err := ws.Bind(first)
		if err != nil {
			t.Fatal(err)
		}
		return k.Implementation()
	}
	implementation()
	if _, ok := ws.memory.tried[key]; !ok {
		t.Fatalf("%s: a result of 32 KiB was not tried with an L2 of 16: %v", name, ws.memory.tried)
	}
	ws.memory.tried[key] = int(cached)
	plain := implementation()
	for _, nt := range ways {
		ws.memory.tried[key] = int(nt)
		if got, want := implementation(), plain+nt.suffix(); got != want {
			t.Errorf("%s, bound again: %q, want %q", name, got, want)
		}
	}
}

// Both sides of a pair convolve by one plan, whichever the trial on the first of them found.
func TestSidesShareAConvolutionPlan(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		c := caseOf(t, "Conv2d_BatchNorm_ReLU", "1x64x28x28x64x3x1x1x1", schema.FP32, 1)
		opened, err := b.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		ws := opened.(*workspace)
		key := triedKey{ws.isa, c.Chain[0].Name, c.Chain[0].In[1]}
		names := func() (alone, fused string) {
			for i, chain := range []bench.Chain{c.Chain[:1], c.Chain} {
				k, err := ws.Bind(chain)
				if err != nil {
					t.Fatal(err)
				}
				*[]*string{&alone, &fused}[i] = k.Implementation()
			}
			return alone, fused
		}
		names()
		if _, tried := ws.memory.tried[key]; !tried {
			t.Skip("there is one plan")
		}
		seen := map[string]bool{}
		for plan := range 2 {
			ws.memory.tried[key] = plan
			alone, fused := names()
			if alone != fused {
				t.Errorf("plan %d: %s alone, and %s in a chain", plan, alone, fused)
			}
			seen[alone] = true
		}
		if len(seen) != 2 {
			t.Errorf("two plans are %v", seen)
		}
	})
}
