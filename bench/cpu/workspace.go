package cpu

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// workspace holds the tensors of one case.
type workspace struct {
	*team
	isa     ISA
	caches  cacheSizes
	dtype   schema.DType
	unit    unit    // that computes in dtype, if that is narrower than fp32
	vector  *unit   // that multiplies few rows in its place, if the case leaves the choice
	library Library // that computes everything; nil for our own kernels
	seed    uint64
	memory  *memory
	tensors map[*bench.Tensor]stored
	packed  map[packedKey][]byte
	chained bool   // the case is a chain of operations
	shared  []byte // see sharedScratch
	closers []func()
}

// stored is a tensor in memory.
type stored struct {
	mem []byte
	element.Element
}

// packedKey tells forms of weights apart: the tensor, and how it is packed.
type packedKey struct {
	tensor *bench.Tensor
	form   string
}

// Open allocates the tensors of a case. Inputs get their random values, and each worker writes its part of
// each tensor on fresh pages first, so that they are near it.
func (b *Backend) Open(c bench.Case) (bench.Workspace, error) {
	if reason := b.Unsupported(c.DType); reason != "" {
		return nil, fmt.Errorf("cpu: %s: %s: %w", c.DType, reason, bench.ErrUnsupported)
	}
	library := b.library(c.Unit, c.Chain.String(), c.DType)
	if library != nil {
		c.Unit = ""
	}
	u, isa, err := b.choose(c)
	if err != nil {
		return nil, err
	}
	if err := b.enter(c.Place); err != nil {
		return nil, err
	}
	ws := &workspace{
		team: b.team, isa: isa, caches: b.cachesOf(c.Place), dtype: c.DType, unit: u, library: library, seed: c.Seed,
		memory: &b.memory[1], tensors: map[*bench.Tensor]stored{}, packed: map[packedKey][]byte{},
		chained: len(c.Chain) > 1,
	}
	if c.Unit == "" {
		ws.vector = vectorUnit(b.units[c.DType], u)
	}
	if c.SmallPages {
		ws.memory = &b.memory[0]
	}
	ws.memory.enter()
	inputs := map[*bench.Tensor]int{}
	for i, t := range c.Chain.Inputs() {
		inputs[t] = i
	}
	storage := c.Storage()
	pieces, fresh := make([][]byte, len(storage.Bytes)), make([]bool, len(storage.Bytes))
	for _, t := range c.Chain.Tensors() {
		if _, have := ws.tensors[t]; have {
			continue
		}
		e, i := element.OfTensor(t, c.DType), storage.Of[t]
		if pieces[i] == nil {
			if pieces[i], err = ws.memory.alloc(storage.Bytes[i]); err != nil {
				ws.Close()
				return nil, fmt.Errorf("cpu: tensor %s of %v: %w", t.Name, t.Dims, err)
			}
			fresh[i] = ws.memory.fresh()
		}
		mem := pieces[i][:t.Elems()*e.Bytes]
		ws.tensors[t] = stored{mem, e}
		if input, is := inputs[t]; is {
			fill(ws.team, mem, b.inputs.of(e, t, c, input))
		} else if fresh[i] {
			fill(ws.team, mem, make([]byte, 4096))
		}
	}
	return ws, nil
}

// choose is the unit of a case, in a type that has some, and the family of the other kernels.
func (b *Backend) choose(c bench.Case) (unit, ISA, error) {
	u, ok := unitNamed(b.units[c.DType], c.Unit)
	switch {
	case ok || c.Unit == "":
		return u, b.isas[0], nil
	case len(b.units[c.DType]) == 0 && slices.Contains(b.isas, ISA(c.Unit)):
		return u, ISA(c.Unit), nil
	}
	return u, "", fmt.Errorf("cpu: no implementation %s in %s: %w", c.Unit, c.DType, bench.ErrUnsupported)
}

// fill repeats a block over a tensor, each worker in its part.
func fill(t *team, mem, block []byte) {
	t.run(func(w *worker) {
		lo, hi := w.share(len(mem), 64)
		for i := lo; i < hi; {
			i += copy(mem[i:hi], block[i%len(block):])
		}
	})
}

// data views a tensor as elements. A parameter of 16 bits is known before the run: it is
// widened to a copy for what computes in fp32.
func data[T inMemory](ws *workspace, t *bench.Tensor) []T {
	s := ws.stored(t)
	if s.Bytes == int64(unsafe.Sizeof(T(0))) {
		return as[T](s.mem)
	}
	if !t.Param {
		panic("cpu: tensor " + t.Name + " is neither in fp32 nor a parameter")
	}
	wide := make([]T, t.Elems())
	for i := range wide {
		wide[i] = T(s.Get(s.mem, int64(i)))
	}
	return kept(ws, wide)
}

// kept copies what was derived from parameters to the memory of the workspace, so that cold runs flush it, too. Where
// there is no room it stays where it is.
func kept[T inMemory](ws *workspace, x []T) []T {
	to, err := scratch[T](ws, len(x))
	if err != nil {
		return x
	}
	copy(to, x)
	return to
}

func (ws *workspace) stored(t *bench.Tensor) stored {
	s, ok := ws.tensors[t]
	if !ok {
		panic("cpu: tensor " + t.Name + " is not of this workspace")
	}
	return s
}

func (ws *workspace) bytes(t *bench.Tensor) []byte { return ws.stored(t).mem }

// beyondL2 says that the workers' parts of so many bytes do not fit into their L2.
func (ws *workspace) beyondL2(bytes int) bool {
	return bytes/len(ws.workers) > orElse(ws.caches.L2, typicalCaches.L2)
}

// scratch allocates n elements that a kernel keeps to itself.
func scratch[T inMemory](ws *workspace, n int) ([]T, error) {
	mem, err := ws.memory.alloc(int64(n) * int64(unsafe.Sizeof(T(0))))
	return as[T](mem), err
}

// forWorkers allocates n bytes that the goroutine that binds fills before the run, as with packed weights. The workers
// touch their parts first, so that the pages lie on their NUMA nodes and not on that of this goroutine.
func (ws *workspace) forWorkers(n int64) ([]byte, error) {
	mem, err := ws.memory.alloc(n)
	if err == nil && ws.memory.fresh() {
		fill(ws.team, mem, make([]byte, 4096))
	}
	return mem, err
}

// packedOnce gives weights in a packed form, which the first kernel that wants it makes.
// The sides of a pair share it: which of two copies lies on better pages would else
// decide between them.
func (ws *workspace) packedOnce(key packedKey, bytes int64, pack func(dst []byte)) ([]byte, error) {
	if mem, have := ws.packed[key]; have {
		return mem, nil
	}
	mem, err := ws.forWorkers(bytes)
	if err != nil {
		return nil, err
	}
	pack(mem)
	ws.packed[key] = mem
	return mem, nil
}

// sharedScratch is memory in which a kernel keeps nothing from one run to the next. Kernels
// run one after the other and share it, so that neither side of a pair has the better
// place; one that wants more gets a new piece, which those bound later share.
func (ws *workspace) sharedScratch(bytes int64) ([]byte, error) {
	if int64(len(ws.shared)) < bytes {
		mem, err := ws.memory.alloc(bytes)
		if err != nil {
			return nil, err
		}
		ws.shared = mem
	}
	return ws.shared[:bytes], nil
}

// rooms allocates so many bytes for each worker.
func (ws *workspace) rooms(bytes int64) (rooms [][]byte, err error) {
	rooms = make([][]byte, len(ws.workers))
	for i := range rooms {
		if rooms[i], err = ws.memory.alloc(bytes); err != nil {
			return nil, err
		}
	}
	return rooms, nil
}

// blocksOf allocates n elements for each worker, with a page between them, beyond which no
// kernel prefetches: a worker would else keep taking lines from the cache of the next one,
// which writes them.
func blocksOf[T float](ws *workspace, n int) ([][]T, error) {
	page := 4096 / int(unsafe.Sizeof(T(0)))
	gap := (ceilDiv(n, page) + 1) * page
	all, err := scratch[T](ws, len(ws.workers)*gap)
	if err != nil {
		return nil, err
	}
	blocks := make([][]T, len(ws.workers))
	for i := range blocks {
		blocks[i] = all[i*gap:][:n:n]
	}
	return blocks, nil
}

// Samples executes the runs in turn, as one job of the workers: one that slept
// between would have to wait until a neighbour gives its CPU back.
func (ws *workspace) Samples(runs []bench.Run) ([]time.Duration, error) {
	samples := make([]sample, len(runs))
	for i, r := range runs {
		s := &samples[i]
		s.n, s.private, s.alike = r.N, true, true
		for _, k := range r.Kernels {
			own, ok := k.(*kernel)
			if !ok {
				return nil, fmt.Errorf("cpu: kernel %s is of another backend", k.Implementation())
			}
			s.bodies = append(s.bodies, own.body)
			s.private, s.alike = s.private && own.private, s.alike && own.alike
			s.solo, s.before, s.after = own.solo, own.before, own.deliver
		}
		if r.Cold {
			if !canFlush {
				return nil, fmt.Errorf("cpu: no instruction flushes the caches of this CPU: %w", bench.ErrUnsupported)
			}
			s.before = ws.memory.flush
		}
	}
	if slices.ContainsFunc(samples, func(s sample) bool { return s.solo }) {
		for i := range samples {
			samples[i].warm()
		}
	}
	return ws.team.sample(samples), nil
}

// Read copies elements of a tensor.
func (ws *workspace) Read(t *bench.Tensor, at int64, dst []float64) error {
	if at < 0 || at+int64(len(dst)) > t.Elems() {
		return fmt.Errorf("cpu: read %s[%d:%d] of %d", t.Name, at, at+int64(len(dst)), t.Elems())
	}
	s := ws.stored(t)
	for i := range dst {
		dst[i] = s.Get(s.mem, at+int64(i))
	}
	return nil
}

// PageBytes is the size of the pages behind a tensor.
func (ws *workspace) PageBytes(t *bench.Tensor) int64 { return pageBytes(ws.bytes(t)) }

// Poison writes to elements of a tensor what no kernel computes: NaN, or the smallest
// integer, which a kernel for int8 leaves out.
func (ws *workspace) Poison(t *bench.Tensor, at []int64) error {
	s := ws.stored(t)
	for _, i := range at {
		s.Spoil(s.mem, i)
	}
	return nil
}

// Close gives the memory back to the backend.
func (ws *workspace) Close() error {
	for _, f := range ws.closers {
		f()
	}
	return ws.memory.leave()
}
