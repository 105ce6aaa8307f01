//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/schema"
)

// plan is an execution plan for graphs of one description. The addresses of tensors and workspace are in the variant
// pack with which it is executed.
type plan struct {
	descriptor descriptor
	name       string
	workspace  int64 // bytes
}

func (l *cudnnLibrary) enqueue(p plan, pack descriptor) error {
	return l.context.Do(func() error {
		status, _, _ := purego.SyscallN(l.execute, l.handle, uintptr(p.descriptor), uintptr(pack))
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
	var plans []plan
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
	packs := &descriptors{cudnnLibrary: g.library}
	g.ws.closers = append(g.ws.closers, packs.free)
	pack, err := packs.make(kindPack, many(attrPackIDs, typeInt64, g.ids), many(attrPackPointers, typePointer, g.addresses),
		one(attrPackWorkspace, typePointer, workspace))
	if err != nil {
		return nil, err
	}
	candidates := make([]func() error, len(plans))
	for i, p := range plans {
		candidates[i] = func() error { return g.library.enqueue(p, pack) }
	}
	best, err := g.ws.fastest(candidates)
	if err != nil {
		return nil, err
	}
	g.library.plans[g.description()] = plans[best : best+1]
	return &kernel{name: plans[best].name, enqueue: candidates[best]}, nil
}

// plans are built for the first graph of a description, and live until the library is closed. That there are none is
// remembered, too.
func (g *graph) plans() ([]plan, error) {
	if g.err != nil {
		return nil, g.err
	}
	if plans, have := g.library.plans[g.description()]; have {
		return plans, nil
	}
	if err, have := g.library.refused[g.description()]; have {
		return nil, err
	}
	d := &descriptors{cudnnLibrary: g.library}
	plans, err := g.build(d)
	if err != nil {
		if isUnsupported(err) {
			g.library.refused[g.description()] = err
		}
		return nil, errors.Join(err, d.free())
	}
	g.library.built = append(g.library.built, d)
	g.library.plans[g.description()] = plans
	return plans, nil
}

// build makes plans of the engine configurations that the heuristics offer, their favourite first: at most triedPlans,
// and no more after trialTime. It gives up if there is none within searchTime.
func (g *graph) build(d *descriptors) ([]plan, error) {
	start := time.Now()
	for _, p := range g.parts {
		if _, err := d.make(p.kind, p.attributes...); err != nil {
			return nil, err
		}
	}
	operations := []attribute{many(attrGraphOps, typeDescriptor, g.ops)}
	if d.handle != 0 {
		operations = append(operations, one(attrGraphHandle, typeHandle, d.handle))
	}
	all, err := d.make(kindGraph, operations...)
	if err != nil {
		return nil, err
	}
	var plans []plan
	refused := fmt.Errorf("no engine: %w", bench.ErrUnsupported)
	for _, mode := range []int32{heuristicA, heuristicFallback} {
		configs, err := d.configs(all, mode)
		if err != nil {
			refused = err
			continue
		}
		for _, c := range configs {
			spent := time.Since(start)
			if len(plans) == triedPlans || len(plans) > 0 && spent > trialTime || spent > searchTime {
				break
			}
			p, err := d.plan(c, g.ws.dtype)
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

// configs are the configurations that a heuristic offers: engines with their settings.
func (d *descriptors) configs(graph descriptor, mode int32) ([]descriptor, error) {
	attributes := []attribute{one(attrHeuristicMode, typeHeuristic, mode), one(attrHeuristicGraph, typeDescriptor, graph)}
	if d.properties != 0 {
		attributes = append(attributes, one(attrHeuristicDevice, typeDescriptor, d.properties))
	}
	h, err := d.make(kindHeuristic, attributes...)
	if err != nil {
		return nil, err
	}
	return d.parts(h, attrHeuristicResults, kindConfig, offeredPlans)
}

// plan builds the plan of a configuration, if all numerical notes of its engine are allowed in the type.
func (d *descriptors) plan(config descriptor, dtype schema.DType) (plan, error) {
	engines, err := d.parts(config, attrConfigEngine, kindEngine, 1)
	if err != nil {
		return plan{}, err
	}
	engine := engines[0]
	index, err := value[int64](d.cudnnLibrary, engine, attrEngineIndex, typeInt64)
	if err != nil {
		return plan{}, err
	}
	notes := make([]int32, mostNotes)
	n, err := d.read(engine, attrEngineNotes, typeNumericalNote, mostNotes, unsafe.Pointer(&notes[0]))
	if err != nil {
		return plan{}, err
	}
	for _, note := range notes[:n] {
		if !allowed(note, dtype) {
			return plan{}, fmt.Errorf("engine %d has the numerical note %d: %w", index, note, bench.ErrUnsupported)
		}
	}
	name, err := d.name(config, index)
	if err != nil {
		return plan{}, err
	}
	attributes := []attribute{one(attrPlanConfig, typeDescriptor, config)}
	if d.properties != 0 {
		attributes = append(attributes, one(attrPlanDevice, typeDescriptor, d.properties))
	} else {
		attributes = append(attributes, one(attrPlanHandle, typeHandle, d.handle))
	}
	of, err := d.make(kindPlan, attributes...)
	if err != nil {
		return plan{}, fmt.Errorf("%s: %w", name, err)
	}
	workspace, err := value[int64](d.cudnnLibrary, of, attrPlanWorkspace, typeInt64)
	return plan{of, name, workspace}, err
}

// name tells plans apart by their engine and its settings.
func (d *descriptors) name(config descriptor, engine int64) (string, error) {
	name := fmt.Sprintf("cudnn_%s engine %d", d.version, engine)
	knobs, err := d.parts(config, attrConfigKnobs, kindKnobChoice, mostKnobs)
	if err != nil {
		return "", err
	}
	var settings []string
	for _, k := range knobs {
		kind, err := value[int32](d.cudnnLibrary, k, attrKnobType, typeKnob)
		if err != nil {
			return "", err
		}
		choice, err := value[int64](d.cudnnLibrary, k, attrKnobValue, typeInt64)
		if err != nil {
			return "", err
		}
		settings = append(settings, fmt.Sprintf("%d=%d", kind, choice))
	}
	if len(settings) > 0 {
		name += " knobs " + strings.Join(settings, ",")
	}
	return name, nil
}

// allowed says whether an engine with that numerical note computes in a type as profiles define it: without
// narrower inputs or sums, without FFT or Winograd transforms, which have other errors, and in fp32 without
// tensor cores, which would compute in tf32.
func allowed(note int32, d schema.DType) bool {
	switch {
	case note == noteTensorCore:
		return d != schema.FP32
	case note >= noteDownConvert && note <= noteFFT, note >= noteWinograd && note <= noteWinograd13x13:
		return false
	}
	return true
}
