package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// identity is what of a device does not change from run to run: no clock, no
// limit, no serial number and nothing measured. Its JSON is the canonical form;
// a new field changes every fingerprint.
type identity struct {
	Kind     Kind     `json:"kind"`
	Vendor   string   `json:"vendor"`
	Name     string   `json:"name"`
	Family   int      `json:"family,omitempty"`
	Model    int      `json:"model,omitempty"`
	Stepping int      `json:"stepping,omitempty"`
	Sockets  int      `json:"sockets,omitempty"`
	Cores    int      `json:"cores,omitempty"`
	Threads  int      `json:"threads,omitempty"`
	ISA      []string `json:"isa,omitempty"`
	Caches   []Cache  `json:"caches,omitempty"`
	Memory   int64    `json:"memory_bytes,omitempty"`
	CC       string   `json:"compute_capability,omitempty"`
}

// Fingerprint is the SHA-256, in hexadecimal, of the stable identity of the
// devices. It does not depend on the order of instruction sets and caches, but
// on that of the devices.
func Fingerprint(devices []Device) string {
	ids := make([]identity, 0, len(devices))
	for _, d := range devices {
		id := identity{Kind: d.Kind, Vendor: d.Vendor, Name: d.Name}
		if c := d.CPU; c != nil {
			id.Family, id.Model, id.Stepping = c.Family, c.Model, c.Stepping
			id.Sockets, id.Cores, id.Threads = c.Sockets, c.Cores, c.Threads
			id.ISA = slices.Sorted(slices.Values(c.ISA))
			id.Caches = slices.SortedFunc(slices.Values(c.Caches), compareCaches)
		}
		if g := d.GPU; g != nil {
			id.Memory, id.CC = g.MemoryBytes, g.ComputeCapability
		}
		ids = append(ids, id)
	}
	canonical, err := json.Marshal(ids)
	if err != nil {
		panic(fmt.Sprintf("schema: fingerprint: %v", err)) // strings and integers always marshal
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

func compareCaches(a, b Cache) int {
	return cmp.Or(
		cmp.Compare(a.Level, b.Level), cmp.Compare(a.Type, b.Type), cmp.Compare(a.SizeBytes, b.SizeBytes),
		cmp.Compare(a.LineBytes, b.LineBytes), cmp.Compare(a.Ways, b.Ways),
		cmp.Compare(a.SharedBy, b.SharedBy), cmp.Compare(a.Count, b.Count),
	)
}
