package cpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// Backend runs chains of operations on the CPUs that a process may use.
type Backend struct {
	isas      []ISA                   // that it can run, best first
	units     map[schema.DType][]unit // for types narrower than fp32, best first
	libraries []Library
	caches    cacheSizes
	cpus      []int            // in the order in which they are used
	classes   map[string][]int // of cpus, by class of core
	nodes     map[int][]int    // of cpus, by NUMA node

	// The team of the current place, and memory: pages belong near the worker that wrote them first, so that
	// another place has others, unless it is on the same NUMA node.
	place  bench.Place
	team   *team
	reader *counterReader
	memory [2]memory // base and huge pages
	inputs inputs    // their values
	// rates are the best rates of issueRates, ascending: see bestRate. siblings: cores have two logical CPUs, which
	// may both be workers.
	rates    map[core][]float64
	siblings bool
	cores    int
	// nearest are the shortest times of a signal between the workers, by place.
	nearest map[bench.Place][]float64

	counters    []counter // of energy; none if there is no meter
	thermometer string
}

// New returns the backend of a CPU as detected: its used_cpus, core_classes and
// caches. Beside our own kernels a case can ask for those of the libraries.
func New(dev schema.Device, libraries ...Library) (*Backend, error) {
	if dev.CPU == nil || len(dev.CPU.UsedCPUs) == 0 {
		return nil, fmt.Errorf("cpu: device %s names no CPU to use", dev.ID)
	}
	isas, err := ISAs()
	if err != nil {
		return nil, err
	}
	b := &Backend{isas: isas, libraries: libraries, cpus: dev.CPU.UsedCPUs, units: map[schema.DType][]unit{}, classes: map[string][]int{}, nodes: map[int][]int{}, rates: map[core][]float64{},
		siblings: dev.CPU.Threads > dev.CPU.Cores, cores: max(1, dev.CPU.Cores), nearest: map[bench.Place][]float64{}}
	for _, d := range schema.DTypes() {
		b.units[d], _ = usableUnits(d)
	}
	b.memory[1].huge = true
	b.counters, b.thermometer = energyCounters("/", dev.Power), findThermometer("/")
	for _, class := range dev.CPU.CoreClasses {
		for _, cpu := range b.cpus {
			if slices.Contains(class.CPUs, cpu) {
				b.classes[class.Name] = append(b.classes[class.Name], cpu)
			}
		}
	}
	for _, node := range dev.CPU.NUMANodes {
		for _, cpu := range b.cpus {
			if slices.Contains(node.CPUs, cpu) {
				b.nodes[node.ID] = append(b.nodes[node.ID], cpu)
			}
		}
	}
	l2 := 0 // of all cores together
	for _, c := range dev.CPU.Caches {
		size := int(c.SizeBytes)
		switch {
		case c.Type == "instruction":
		case c.Level == 1:
			b.caches.L1 = smaller(b.caches.L1, size)
		case c.Level == 2:
			b.caches.L2 = smaller(b.caches.L2, size/coresSharing(c, dev.CPU))
			l2 += size * max(1, c.Count)
		case c.Level == 3:
			b.caches.L3 = smaller(b.caches.L3, size)
		}
	}
	// Where it is not known who shares one.
	b.caches.L2 = min(b.caches.L2, l2/max(1, dev.CPU.Cores))
	b.caches.L3 = min(b.caches.L3, bench.MostCache*max(1, dev.CPU.Cores))
	return b, nil
}

// coresSharing is the number of cores that share a cache, as clusters of E-cores do, or of many arm64: workers on all of
// them fill their parts. Where there are several classes, only P-cores have two threads.
func coresSharing(c schema.Cache, cpu *schema.CPUInfo) int {
	switch perCore := ceilDiv(cpu.Threads, max(1, cpu.Cores)); {
	case c.SharedBy <= perCore:
		return 1
	case len(cpu.CoreClasses) > 1:
		return c.SharedBy
	default:
		return c.SharedBy / max(1, perCore)
	}
}

// cachesOf are those that a worker of the place has to itself: of more workers than cores some share theirs.
func (b *Backend) cachesOf(p bench.Place) cacheSizes {
	each := b.caches
	if b.siblings && p.Class == "" {
		sharing := max(1, ceilDiv(p.Threads, b.cores))
		each.L1, each.L2 = each.L1/sharing, each.L2/sharing
	}
	return each
}

// smaller of two sizes, of which 0 is unknown: a block has to fit on every class
// of core.
func smaller(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// Close ends the workers and gives the memory back.
func (b *Backend) Close() error {
	b.dismiss()
	return errors.Join(b.memory[0].unmap(), b.memory[1].unmap())
}

// enter makes the place current.
func (b *Backend) enter(p bench.Place) error {
	if b.team != nil && b.place == p {
		return nil
	}
	cpus := b.cpus
	switch {
	case p.NUMA.Bound:
		cpus = b.nodes[p.NUMA.Node]
	case p.Class != "":
		cpus = b.classes[p.Class]
	}
	if p.Threads < 1 || p.Threads > len(cpus) {
		return fmt.Errorf("cpu: %s: there are %d CPUs to use", p, len(cpus))
	}
	b.dismiss()
	for i := range b.memory {
		if err := b.memory[i].move(p.NUMA, b.nodesOf(cpus[:p.Threads])); err != nil {
			return err
		}
	}
	t, err := newTeam(cpus[:p.Threads])
	if err != nil {
		return err
	}
	for i, cpu := range t.cpus {
		t.classes[i] = b.classOf(cpu)
	}
	b.place, b.team, b.reader = p, t, t.counterReader(b.cpus)
	return nil
}

// classOf is the class of a CPU's core; empty where all are of one.
func (b *Backend) classOf(cpu int) string {
	for class, cpus := range b.classes {
		if slices.Contains(cpus, cpu) {
			return class
		}
	}
	return ""
}

// nodesOf are the NUMA nodes of some CPUs.
func (b *Backend) nodesOf(cpus []int) []int {
	var nodes []int
	for node, of := range b.nodes {
		if slices.ContainsFunc(of, func(cpu int) bool { return slices.Contains(cpus, cpu) }) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// dismiss ends the team, if there is one.
func (b *Backend) dismiss() {
	if b.team != nil {
		b.team.close()
		b.team = nil
	}
}

// settleTime is how long scalar code runs until the clock that wide vectors lowered
// is back: about 0.7 ms on the processors that do so.
const settleTime = 2 * time.Millisecond

// Clock is the mean effective clock of the workers, all of them measuring at
// once.
func (b *Backend) Clock(p bench.Place, settled bool) (float64, error) {
	if err := b.enter(p); err != nil {
		return 0, err
	}
	mhz := make([]float64, p.Threads)
	errs := make([]error, p.Threads)
	b.team.run(func(w *worker) {
		w.barrier()
		for begin := time.Now(); settled && time.Since(begin) < settleTime; {
		}
		mhz[w.id], errs[w.id] = effectiveClock()
	})
	sum := 0.0
	for i, err := range errs {
		switch {
		case errors.Is(err, errNoClock):
			return 0, fmt.Errorf("%w: %w", err, bench.ErrUnsupported)
		case err != nil: // the first worker's speaks for all
			return 0, fmt.Errorf("worker %d: %w: %w", i, err, bench.ErrUnsettled)
		}
		sum += mhz[i]
	}
	return sum / float64(p.Threads), nil
}

// Limit is what no core exceeds in a cycle: fmaPipes multiply-adds, three loads and two stores of vectors; with
// AVX-512 two loads and one store, with NEON four loads and two stores. Portable code computes
// single numbers, but copies by the Go runtime, in vectors. Types narrower than fp32 have the limit of
// their best unit.
func (b *Backend) Limit(d schema.DType, p bench.Place) bench.Limit {
	vector, moves := 32.0, 5.0
	switch b.isas[0] {
	case AVX512:
		vector, moves = 64, 3
	case NEON:
		vector, moves = 16, 6
	}
	lanes := max(1, vector/float64(d.Bytes()))
	if b.isas[0] == Portable {
		lanes = 1
	}
	flop := fmaPipes * 2 * lanes
	if u, ok := unitNamed(b.units[d], ""); ok {
		flop = u.flopPerCycle
	}
	threads := float64(p.Threads)
	return bench.Limit{FLOPPerCycle: flop * threads, BytesPerCycle: vector * moves * threads}
}

// Kernels lists what New's backend can run.
func (b *Backend) Kernels() []bench.KernelInfo {
	var all []bench.KernelInfo
	for _, name := range kernelNames() {
		if stream, ok := strings.CutPrefix(name, "stream_"); ok && !b.hasStream(stream) {
			continue
		}
		for _, d := range schema.DTypes() {
			if !kernels[name].has(d) {
				continue
			}
			ours := b.ours(name, d)
			if !d.Mixed() {
				ours = ours[:1] // the best family
			}
			for _, implementation := range ours {
				all = append(all, bench.KernelInfo{Chain: name, DType: d, Implementation: implementation})
			}
		}
	}
	return all
}

// hasStream says whether there is a kernel of bandwidth: portable Go cannot store past the caches.
func (b *Backend) hasStream(name string) bool {
	return slices.ContainsFunc(b.isas, func(isa ISA) bool {
		return slices.ContainsFunc(streamKernels(isa), func(k streamKernel) bool { return k.name == name })
	})
}

// families are the instruction sets that have kernels of a chain, best first. All have kernels for products and
// for measuring the machine; some lack those for other chains.
func (b *Backend) families(chain string) []ISA {
	first, _, _ := strings.Cut(chain, "+")
	whole := strings.HasPrefix(first, "stream_") ||
		slices.Contains([]string{"peak_fma", "gemm", "gemm_batched", "conv2d", "qk_t", "pv"}, first)
	return slices.DeleteFunc(slices.Clone(b.isas), func(isa ISA) bool { return !whole && vecISA(isa, chain) != isa })
}

// ours are the families that have kernels of a chain, or the units of a mixed type, best first.
func (b *Backend) ours(chain string, d schema.DType) []string {
	var names []string
	if d.Mixed() {
		for _, u := range b.units[d] {
			names = append(names, u.name)
		}
		return names
	}
	for _, isa := range b.families(chain) {
		names = append(names, string(isa))
	}
	return names
}

// Implementations are the families of kernels that this CPU can run, or the units of a mixed
// type, and behind them the libraries that have the chain.
func (b *Backend) Implementations(chain string, d schema.DType) []string {
	if !kernels[chain].has(d) {
		return nil
	}
	names := b.ours(chain, d)
	for _, l := range b.libraries {
		if l.Has(chain, d) {
			names = append(names, l.Name())
		}
	}
	return names
}

// Unsupported says why there are no kernels in a type; nothing if there are.
func (b *Backend) Unsupported(d schema.DType) string {
	if !d.Mixed() || len(b.units[d]) > 0 {
		return ""
	}
	_, reason := usableUnits(d)
	return reason
}
