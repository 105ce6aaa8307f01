package cpu

import (
	"testing"

	"hwcal/schema"
)

// Where a result is stored is chosen once for a workspace: both sides of a control are the
// same code, whatever a second trial would say.
func TestStoringIsChosenOnce(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		if !canStorePast(isa) {
			t.Skip("there is one way to store")
		}
		b := testBackend(t, isa)
		b.caches.L2 = 16 << 10
		c := caseOf(t, "relu", "1x64x128", schema.FP32, 1)
		opened, err := b.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		ws := opened.(*workspace)
		key := storesKey{c.Chain.String(), c.Chain.Output()}
		implementation := func() string {
			k, err := ws.Bind(c.Chain)
			if err != nil {
				t.Fatal(err)
			}
			return k.Implementation()
		}
		implementation()
		if _, ok := ws.storesPast[key]; !ok {
			t.Fatalf("a result of 32 KiB was not tried with an L2 of 16: %v", ws.storesPast)
		}
		names := map[bool]string{}
		for _, past := range []bool{true, false} {
			ws.storesPast[key] = past
			names[past] = implementation()
		}
		if names[true] != names[false]+"_nt" {
			t.Errorf("bound again: %q stores past the caches, %q does not", names[true], names[false])
		}
	})
}
