//go:build linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// copying is a device that counts the copies from the host.
type copying struct {
	planned
	uploads int
}

func (c *copying) Upload(Address, []byte) error {
	c.uploads++
	return nil
}

// What is poisoned takes a copy of each page, not of each element: neighbours of an image lie apart.
func TestPoisonByPages(t *testing.T) {
	device := &copying{planned: planned{capability: Capability{8, 0}, units: map[Unit]bool{}}}
	b := must[*Backend](t)(New(device, &device.planned, nil))
	image := &bench.Tensor{Name: "X", Dims: []int64{1, 64, 32, 32}}
	c := bench.Chain{bench.ChannelBias(image, &bench.Tensor{Name: "b", Dims: []int64{64}})}
	ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.BF16, Seed: 1}))
	row := make([]int64, 32*32)
	for i := range row {
		row[i] = int64(i)
	}
	device.uploads = 0
	check(t, ws.Poison(c.Output(), row))
	if pages := image.Elems() / pageElems; device.uploads != int(pages) {
		t.Errorf("%d copies for %d pages", device.uploads, pages)
	}
}
