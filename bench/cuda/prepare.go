package cuda

import (
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"hwcal/schema"
)

// Prepare compiles all units in the types, on all CPUs, and loads them, which is when the driver compiles PTX. This
// takes longer than many a measurement, and would otherwise happen unit by unit within the budget of a calibration.
// Units that are not begun before done is closed are compiled when they are first used.
func (b *Backend) Prepare(done <-chan struct{}, dtypes []schema.DType) error {
	p, err := newPrebuilt()
	if err != nil {
		return err
	}
	wanted := slices.DeleteFunc(p.units(b.capability), func(u Unit) bool {
		_, have := b.modules[u]
		return have || u.DType != "" && !slices.Contains(dtypes, u.DType)
	})
	images := make([]image, len(wanted))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	begun := 0
	for i, u := range wanted {
		slots <- struct{}{}
		if closed(done) {
			break
		}
		begun++
		running.Go(func() {
			images[i] = b.compile(u)
			<-slots
		})
	}
	running.Wait()
	for i, u := range wanted[:begun] {
		b.load(u, images[i])
	}
	return nil
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// units are those that the archive has for a device, as it has all that there are.
func (p prebuilt) units(c Capability) []Unit {
	var units []Unit
	for _, f := range p.archive.File {
		target, name := path.Split(strings.TrimSuffix(f.Name, ".ptx"))
		if strings.TrimSuffix(target, "/") == targetHopper && c != (Capability{9, 0}) {
			continue
		}
		u := Unit{Source: name}
		for _, d := range schema.DTypes() {
			if source, is := strings.CutSuffix(name, "_"+string(d)); is {
				u = Unit{source, d}
			}
		}
		if !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	return units
}
