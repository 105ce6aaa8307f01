package cpu

import (
	"testing"

	"hwcal/schema"
)

// Where a result is stored is chosen once for a workspace: both sides of a control are the
// same code, whatever a second trial would say.
func TestStoringIsChosenOnce(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		if !hasFarKernels(isa, schema.FP32) {
			t.Skip("there is one way to store")
		}
		for name, shape := range map[string]string{"relu": "1x64x128", "Residual_LayerNorm": "63x129"} {
			testStoringIsChosenOnce(t, isa, name, shape)
		}
	})
}

func testStoringIsChosenOnce(t *testing.T, isa ISA, name, shape string) {
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
	names := map[bool]string{}
	for _, past := range []bool{true, false} {
		ws.memory.tried[key] = past
		names[past] = implementation()
	}
	if names[true] != names[false]+"_nt" {
		t.Errorf("%s, bound again: %q stores past the caches, %q does not", name, names[true], names[false])
	}
}
