//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/schema"
)

// plan is a way to execute a graph.
type plan struct {
	library   *cudnnLibrary
	name      string
	plan      descriptor
	workspace int64 // bytes
	pack      descriptor
}

func (p *plan) enqueue() error {
	l := p.library
	return l.context.Do(func() error {
		status, _, _ := purego.SyscallN(l.execute, l.handle, uintptr(p.plan), uintptr(p.pack))
		return l.check("cudnnBackendExecute", cudnnStatus(status))
	})
}

// byPlans binds a chain to the fastest plan of the graph that is built from it.
func byPlans(build func(*workspace, bench.Chain) (*graph, error)) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		g, err := build(ws, c)
		if err != nil {
			return nil, err
		}
		return g.kernel()
	}
}

// kernel is the fastest of the plans.
func (g *graph) kernel() (*kernel, error) {
	var plans []*plan
	if err := g.ws.context.Do(func() (err error) { plans, err = g.plans(); return err }); err != nil {
		return nil, err
	}
	most := int64(0)
	for _, p := range plans {
		most = max(most, p.workspace)
	}
	workspace, err := g.ws.alloc(most)
	if err != nil {
		return nil, err
	}
	pack := g.make(kindPack, many(attrPackIDs, typeInt64, g.ids), many(attrPackPointers, typePointer, g.addresses),
		one(attrPackWorkspace, typePointer, workspace))
	candidates := make([]func() error, len(plans))
	for i, p := range plans {
		p.pack = pack
		candidates[i] = p.enqueue
	}
	if g.err != nil {
		return nil, g.err
	}
	best, err := g.ws.fastest(candidates)
	if err != nil {
		return nil, err
	}
	return &kernel{name: plans[best].name, enqueue: candidates[best]}, nil
}

// plans are those of the engines that the heuristics offer, the one they take for the best first.
func (g *graph) plans() ([]*plan, error) {
	operations := []attribute{many(attrGraphOps, typeDescriptor, g.ops)}
	if g.library.handle != 0 {
		operations = append(operations, one(attrGraphHandle, typeHandle, g.library.handle))
	}
	all := g.make(kindGraph, operations...)
	if g.err != nil {
		return nil, g.err
	}
	var plans []*plan
	refused := fmt.Errorf("no engine: %w", bench.ErrUnsupported)
	for _, mode := range []int32{heuristicA, heuristicFallback} {
		configs, err := g.configs(all, mode)
		if err != nil {
			refused = err
			continue
		}
		for _, c := range configs {
			if len(plans) == triedPlans {
				break
			}
			p, err := g.plan(c)
			if err != nil {
				refused = err // another engine may do
				continue
			}
			plans = append(plans, p)
		}
		if len(plans) > 0 {
			return plans, nil
		}
	}
	return nil, refused
}

// configs are engines with their settings.
func (g *graph) configs(all descriptor, mode int32) ([]descriptor, error) {
	attributes := []attribute{one(attrHeuristicMode, typeHeuristic, mode), one(attrHeuristicGraph, typeDescriptor, all)}
	if g.library.properties != 0 {
		attributes = append(attributes, one(attrHeuristicDevice, typeDescriptor, g.library.properties))
	}
	h, err := g.try(kindHeuristic, attributes...)
	if err != nil {
		return nil, err
	}
	return g.parts(h, attrHeuristicResults, kindConfig, offeredPlans)
}

// parts are descriptors that an attribute of another holds, at most so many.
func (g *graph) parts(of descriptor, name, kind int32, most int) ([]descriptor, error) {
	parts := make([]descriptor, most)
	for i := range parts {
		var err error
		if parts[i], err = g.empty(kind); err != nil {
			return nil, err
		}
	}
	var n int64
	err := g.library.check("cudnnBackendGetAttribute", g.library.getOne(of, name, typeDescriptor, int64(most), &n, unsafe.Pointer(&parts[0])))
	return parts[:min(int(n), most)], err
}

// value reads an attribute of one value.
func value[T any](l *cudnnLibrary, of descriptor, name, kind int32) (v T, err error) {
	var n int64
	err = l.check("cudnnBackendGetAttribute", l.getOne(of, name, kind, 1, &n, unsafe.Pointer(&v)))
	return v, err
}

// plan builds that of a configuration, if its engine computes as the case asks for.
func (g *graph) plan(config descriptor) (*plan, error) {
	l := g.library
	engines, err := g.parts(config, attrConfigEngine, kindEngine, 1)
	if err != nil {
		return nil, err
	}
	engine := engines[0]
	index, err := value[int64](l, engine, attrEngineIndex, typeInt64)
	if err != nil {
		return nil, err
	}
	notes := make([]int32, mostNotes)
	var n int64
	if err := l.check("cudnnBackendGetAttribute", l.getOne(engine, attrEngineNotes, typeNumericalNote, mostNotes, &n, unsafe.Pointer(&notes[0]))); err != nil {
		return nil, err
	}
	for _, note := range notes[:min(n, mostNotes)] {
		if !allowed(note, g.ws.dtype) {
			return nil, fmt.Errorf("engine %d has the numerical note %d: %w", index, note, bench.ErrUnsupported)
		}
	}
	knobs, err := g.parts(config, attrConfigKnobs, kindKnobChoice, mostKnobs)
	if err != nil {
		return nil, err
	}
	var settings []string
	for _, k := range knobs {
		kind, err := value[int32](l, k, attrKnobType, typeKnob)
		if err != nil {
			return nil, err
		}
		choice, err := value[int64](l, k, attrKnobValue, typeInt64)
		if err != nil {
			return nil, err
		}
		settings = append(settings, fmt.Sprintf("%d=%d", kind, choice))
	}
	name := fmt.Sprintf("cudnn_%s engine %d", l.version, index)
	if len(settings) > 0 {
		name += " knobs " + strings.Join(settings, ",")
	}
	attributes := []attribute{one(attrPlanConfig, typeDescriptor, config)}
	if l.properties != 0 {
		attributes = append(attributes, one(attrPlanDevice, typeDescriptor, l.properties))
	} else {
		attributes = append(attributes, one(attrPlanHandle, typeHandle, l.handle))
	}
	d, err := g.try(kindPlan, attributes...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	workspace, err := value[int64](l, d, attrPlanWorkspace, typeInt64)
	return &plan{library: l, name: name, plan: d, workspace: workspace}, err
}

// allowed says whether an engine with that note computes in a type as it is defined here: no
// narrower inputs or sums, no transforms, whose errors are others, and fp32 without tensor cores, which
// know tf32 only.
func allowed(note int32, d schema.DType) bool {
	switch {
	case note == noteTensorCore:
		return d != schema.FP32
	case note >= noteDownConvert && note <= noteFFT, note >= noteWinograd && note <= noteWinograd13x13:
		return false
	}
	return true
}
