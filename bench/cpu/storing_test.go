package cpu

import (
	"testing"

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
