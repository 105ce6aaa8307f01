package cuda

import (
	"errors"
	"fmt"
	"slices"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// workspace holds the tensors of one case on the device.
type workspace struct {
	backend *Backend
	context Context
	dtype   schema.DType
	seed    uint64
	whole   binding                   // of the chain of the case
	bound   map[*bench.Tensor]binding // of a network, by the tensors that they write
	single  map[partKey]binding       // of operations of a chain, or of one of its parts
	only    string                    // provider, or unit, that the case asks for; empty for any
	tensors map[*bench.Tensor]*tensor
	packed  map[packedKey]Address
	blocks  []Address // allocated beside the tensors
	hosts   []Address
	graph   bool // runs are replayed from graphs instead of launched one by one
	graphs  []recorded
	closers []func() error
}

// partKey tells parts of a chain apart: by their operations, and the tensor that they write.
type partKey struct {
	operations string
	out        *bench.Tensor
}

// packedKey tells forms of parameters apart: the tensor, and how it is packed.
type packedKey struct {
	tensor *bench.Tensor
	form   string
}

// Open allocates the tensors of a case and gives inputs their random values.
func (b *Backend) Open(c bench.Case) (bench.Workspace, error) {
	if len(b.usable(c.Chain.String(), c.DType)) == 0 && len(c.Chain) == 1 {
		return nil, fmt.Errorf("cuda: no kernel for %s in %s: %w", c.Chain, c.DType, bench.ErrUnsupported)
	}
	ws := &workspace{
		backend: b, context: b.context, dtype: c.DType, seed: c.Seed, only: c.Unit, graph: c.Graph,
		tensors: map[*bench.Tensor]*tensor{}, packed: map[packedKey]Address{}, bound: map[*bench.Tensor]binding{}, single: map[partKey]binding{},
	}
	inputs := map[*bench.Tensor]int{}
	for i, t := range c.Chain.Inputs() {
		inputs[t] = i
	}
	storage := c.Storage()
	pieces := make([]Address, len(storage.Bytes))
	for _, t := range c.Chain.Tensors() {
		if _, have := ws.tensors[t]; have {
			continue
		}
		i, input := inputs[t]
		piece := storage.Of[t]
		if err := ws.add(c, t, i, input, storage.Bytes[piece], &pieces[piece]); err != nil {
			return nil, errors.Join(fmt.Errorf("cuda: tensor %s of %v: %w", t.Name, t.Dims, err), ws.Close())
		}
	}
	if c.Parts == nil {
		ws.whole = ws.bind(c.Chain, cuDNN)
		return ws, nil
	}
	for _, part := range c.Parts {
		b := ws.bind(part, cuDNN)
		for _, op := range part {
			ws.bound[op.Out] = b
		}
	}
	return ws, nil
}

// add puts a tensor into a piece of memory of so many bytes, which is allocated for its first tensor, and
// fills it: input number i with random values, others with zeros.
func (ws *workspace) add(c bench.Case, t *bench.Tensor, i int, input bool, bytes int64, piece *Address) error {
	own := &tensor{Tensor: t, element: element.OfTensor(t, c.DType), layout: layoutOf(c, t), input: input}
	var err error
	if t.Host {
		own.host, own.address, err = ws.context.AllocHost(own.bytes())
		if err != nil {
			return err
		}
		ws.hosts = append(ws.hosts, own.address)
	} else if *piece == 0 {
		if *piece, err = ws.alloc(bytes); err != nil {
			return err
		}
	}
	if !t.Host {
		own.address = *piece
	}
	ws.tensors[t] = own
	switch {
	case input && t.Host:
		copy(own.host, own.image(t.Fill.Block(c.Seed, i, t.Elems())))
	case input:
		return ws.context.Upload(own.address, own.image(t.Fill.Block(c.Seed, i, t.Elems())))
	case !t.Host:
		return ws.context.Set(own.address, 0, own.bytes())
	}
	return nil
}

// alloc gives memory of the device until the workspace is closed.
func (ws *workspace) alloc(bytes int64) (Address, error) {
	a, err := ws.context.Alloc(max(bytes, 1))
	if err == nil {
		ws.blocks = append(ws.blocks, a)
	}
	return a, err
}

// packedOnce gives a form of parameters, of so many bytes, which the first kernel that wants it
// makes from their values. The sides of a pair share it.
func (ws *workspace) packedOnce(key packedKey, pack func() ([]byte, error)) (Address, error) {
	if a, have := ws.packed[key]; have {
		return a, nil
	}
	mem, err := pack()
	if err != nil {
		return 0, err
	}
	a, err := ws.alloc(int64(len(mem)))
	if err != nil {
		return 0, err
	}
	if err := ws.context.Upload(a, mem); err != nil {
		return 0, err
	}
	ws.packed[key] = a
	return a, nil
}

// of finds a tensor of the case.
func (ws *workspace) of(t *bench.Tensor) *tensor {
	own, ok := ws.tensors[t]
	if !ok {
		panic("cuda: tensor " + t.Name + " is not of this workspace")
	}
	return own
}

// pointer is the address of a tensor as an argument.
func (ws *workspace) pointer(t *bench.Tensor) Arg { return Pointer(ws.of(t).address) }

// values reads a whole tensor, in the order of bench.
func (ws *workspace) values(t *bench.Tensor) ([]float64, error) {
	v := make([]float64, t.Elems())
	return v, ws.Read(t, 0, v)
}

// Read copies elements of a tensor.
func (ws *workspace) Read(bt *bench.Tensor, at int64, dst []float64) error {
	t := ws.of(bt)
	if err := t.bound(at, int64(len(dst))); err != nil {
		return err
	}
	for i := range dst {
		index := t.at(at + int64(i))
		mem, first, err := ws.page(t, index)
		if err != nil {
			return err
		}
		dst[i] = t.element.Get(mem, index-first)
	}
	return nil
}

// pageElems is the number of elements that are downloaded together: verification asks for
// neighbours one by one, and each copy takes ten microseconds.
const pageElems = 1 << 14

// page gives the elements around one, and the index of the first of them. Pages are kept until
// something runs, those of inputs for good.
func (ws *workspace) page(t *tensor, index int64) (mem []byte, first int64, err error) {
	if t.host != nil {
		return t.host, 0, ws.context.Synchronize()
	}
	number := index / pageElems
	first = number * pageElems
	if t.pages == nil {
		t.pages = make([][]byte, divideUp(t.Elems(), pageElems))
	}
	if mem := t.pages[number]; mem != nil {
		return mem, first, nil
	}
	mem = make([]byte, min(pageElems, t.Elems()-first)*t.element.Bytes)
	if err := ws.context.Download(mem, t.address+Address(first*t.element.Bytes)); err != nil {
		return nil, 0, err
	}
	t.pages[number] = mem
	return mem, first, nil
}

// changed forgets pages of what kernels write.
func (ws *workspace) changed() {
	for _, t := range ws.tensors {
		if !t.input {
			t.pages = nil
		}
	}
}

// PageBytes of a device are not told.
func (ws *workspace) PageBytes(*bench.Tensor) int64 { return 0 }

// Poison writes to elements of a tensor what no kernel computes: a page at a time, as neighbours in a row of an image lie
// apart in memory, and thousands of them would each take a copy.
func (ws *workspace) Poison(bt *bench.Tensor, at []int64) error {
	t := ws.of(bt)
	t.pages = nil
	defer func() { t.pages = nil }()
	indices := make([]int64, len(at))
	for i, x := range at {
		indices[i] = t.at(x)
	}
	slices.Sort(indices)
	size := t.element.Bytes
	for i := 0; i < len(indices); {
		mem, first, err := ws.page(t, indices[i])
		if err != nil {
			return err
		}
		for ; i < len(indices) && indices[i]-first < int64(len(mem))/size; i++ {
			t.element.Spoil(mem, indices[i]-first)
		}
		if t.host != nil {
			continue
		}
		if err := ws.context.Upload(t.address+Address(first*size), mem); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the memory back. Of a lost device nothing can be given back, which is no error
// of its own.
func (ws *workspace) Close() error {
	var errs []error
	keep := func(err error) {
		if !errors.Is(err, bench.ErrLost) {
			errs = append(errs, err)
		}
	}
	keep(ws.context.Synchronize())
	for _, c := range ws.closers {
		keep(c())
	}
	for _, r := range ws.graphs {
		keep(ws.context.FreeGraph(r.graph))
	}
	for _, a := range ws.blocks {
		keep(ws.context.Free(a))
	}
	for _, a := range ws.hosts {
		keep(ws.context.FreeHost(a))
	}
	*ws = workspace{backend: ws.backend, context: ws.context}
	return errors.Join(errs...)
}

func isUnsupported(err error) bool { return errors.Is(err, bench.ErrUnsupported) }
