//go:build linux && (amd64 || arm64)

package external

import (
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// binding is a primitive with its arguments.
type binding struct {
	*oneDNN
	cpu.Operands
	plan      uintptr // a primitive descriptor
	primitive uintptr
	args      []dnnlArg
	deliver   func() // nil where the result is in its tensor
	release   []func()
}

// dnnlArg is a dnnl_exec_arg_t.
type dnnlArg struct {
	index  int32
	memory uintptr
}

func (l *oneDNN) newBinding(o cpu.Operands) *binding { return &binding{oneDNN: l, Operands: o} }

func (b *binding) close() {
	for _, f := range b.release {
		f()
	}
}

// run ends when the primitive has: that of a CPU is executed on the thread that calls.
func (b *binding) run() { b.do(b.primitive, b.args) }

func (b *binding) do(primitive uintptr, args []dnnlArg) {
	purego.SyscallN(b.execute, primitive, b.stream, uintptr(len(args)), at(&args[0]))
}

// name of the library, and of the implementation that it chose: "brg:avx512_core".
func (b *binding) name() string {
	var text *byte
	if b.query(b.plan, dnnlQueryName, 0, &text) != 0 || text == nil {
		return b.label
	}
	var name strings.Builder
	for ; *text != 0; text = (*byte)(unsafe.Add(unsafe.Pointer(text), 1)) {
		name.WriteByte(*text)
	}
	return b.label + "_" + strings.ReplaceAll(name.String(), ":", "_")
}

// bind plans the operation and brings its operands into the layouts of the plan.
func (b *binding) bind(op bench.Op, d schema.DType) error {
	plan := b.planMatmul
	if op.Name == "conv2d" {
		plan = b.planConv
	}
	if err := plan(op, d); err != nil {
		return err
	}
	types := dnnlTypes[d]
	if err := b.input(dnnlArgSource, dnnlQuerySource, op.In[0].Dims, types.in, op.In[0]); err != nil {
		return err
	}
	if err := b.input(dnnlArgWeights, dnnlQueryWeights, weightDims(op), types.in, op.In[1]); err != nil {
		return err
	}
	if len(op.In) > 2 {
		bias, err := b.plain(op.In[2].Dims, types.in)
		if err != nil {
			return err
		}
		if _, err := b.arg(dnnlArgBias, bias, b.Of(op.In[2])); err != nil {
			return err
		}
	}
	if err := b.output(op.Out, types.sum); err != nil {
		return err
	}
	if err := b.newPrimitive(&b.primitive, b.plan).check("primitive"); err != nil {
		return err
	}
	b.release = append(b.release, func() { b.freePrimitive(b.primitive) })
	return nil
}

// planMatmul lets the library lay weights out that are known before the run.
func (b *binding) planMatmul(op bench.Op, d schema.DType) error {
	types := dnnlTypes[d]
	x, err := b.plain(op.In[0].Dims, types.in)
	if err != nil {
		return err
	}
	layout := b.plain
	if op.In[1].Param {
		layout = b.any
	}
	w, err := layout(op.In[1].Dims, types.in)
	if err != nil {
		return err
	}
	y, err := b.plain(op.Out.Dims, types.sum)
	if err != nil {
		return err
	}
	return b.planned(b.matmul(&b.plan, b.engine, x, w, y).check("matmul"))
}

// planConv lets the library lay everything out: what surrounds a convolution in a network has the
// layout of it.
func (b *binding) planConv(op bench.Op, d schema.DType) error {
	types, p := dnnlTypes[d], op.Params.(bench.Conv2dParams)
	x, err := b.any(op.In[0].Dims, types.in)
	if err != nil {
		return err
	}
	w, err := b.any(weightDims(op), types.in)
	if err != nil {
		return err
	}
	y, err := b.any(op.Out.Dims, types.sum)
	if err != nil {
		return err
	}
	var bias desc
	if len(op.In) > 2 {
		if bias, err = b.plain(op.In[2].Dims, types.in); err != nil {
			return err
		}
	}
	return b.planned(b.conv(&b.plan, b.engine, x, w, bias, y, [2]int64{p.Stride, p.Stride}, [2]int64{p.Pad, p.Pad}).check("convolution"))
}

func (b *binding) planned(err error) error {
	if err == nil {
		b.release = append(b.release, func() { b.freePlan(b.plan) })
	}
	return err
}

// weightDims are those of the weights, with the groups of a convolution as a dimension of their own.
func weightDims(op bench.Op) []int64 {
	w := op.In[1].Dims
	if p, ok := op.Params.(bench.Conv2dParams); ok && p.Groups > 1 {
		return append([]int64{p.Groups, w[0] / p.Groups}, w[1:]...)
	}
	return w
}

// plain describes a tensor in row-major order, any one in an order that the library picks.
func (b *binding) plain(dims []int64, dtype int32) (desc, error) {
	return b.describe(dims, dtype, false)
}

func (b *binding) any(dims []int64, dtype int32) (desc, error) { return b.describe(dims, dtype, true) }

func (b *binding) describe(dims []int64, dtype int32, picked bool) (desc, error) {
	d, status := b.newDesc(dims, dtype, picked)
	if status == 0 {
		b.release = append(b.release, func() { b.freeDesc(d) })
	}
	return d, status.check("tensor")
}

// memory is a tensor of the library over memory of ours.
func (b *binding) memory(d desc, mem []byte) (memory uintptr, err error) {
	if err := b.newMemory(&memory, d, b.engine, address(mem)).check("memory"); err != nil {
		return 0, err
	}
	b.release = append(b.release, func() { b.freeMemory(memory) })
	return memory, nil
}

func (b *binding) arg(index int32, d desc, mem []byte) (uintptr, error) {
	memory, err := b.memory(d, mem)
	b.args = append(b.args, dnnlArg{index, memory})
	return memory, err
}

// laidOut binds an argument in the layout of the plan: the tensor itself, or else new memory, from
// which and to which reorder leads.
func (b *binding) laidOut(index, query int32, plain desc, t *bench.Tensor) (d desc, own, tensor uintptr, err error) {
	d = b.queryDesc(b.plan, query, 0)
	if b.descEqual(d, plain) != 0 {
		tensor, err = b.arg(index, plain, b.Of(t))
		return d, tensor, tensor, err
	}
	mem, err := b.Alloc(int64(b.descBytes(d)))
	if err != nil {
		return d, 0, 0, err
	}
	if own, err = b.arg(index, d, mem); err != nil {
		return d, 0, 0, err
	}
	tensor, err = b.memory(plain, b.Of(t))
	return d, own, tensor, err
}

func (b *binding) input(index, query int32, dims []int64, dtype int32, t *bench.Tensor) error {
	plain, err := b.plain(dims, dtype)
	if err != nil {
		return err
	}
	d, own, tensor, err := b.laidOut(index, query, plain, t)
	if err != nil || own == tensor {
		return err
	}
	reorder, err := b.reorder(plain, tensor, d, own)
	if err == nil {
		reorder()
	}
	return err
}

func (b *binding) output(t *bench.Tensor, dtype int32) error {
	plain, err := b.plain(t.Dims, dtype)
	if err != nil {
		return err
	}
	d, own, tensor, err := b.laidOut(dnnlArgResult, dnnlQueryResult, plain, t)
	if err != nil || own == tensor {
		return err
	}
	b.deliver, err = b.reorder(d, own, plain, tensor)
	return err
}

func (b *binding) reorder(from desc, source uintptr, to desc, result uintptr) (func(), error) {
	var plan, primitive uintptr
	if err := b.newReorderPlan(&plan, from, b.engine, to, b.engine, 0).check("reorder"); err != nil {
		return nil, err
	}
	defer b.freePlan(plan)
	if err := b.newPrimitive(&primitive, plan).check("reorder"); err != nil {
		return nil, err
	}
	b.release = append(b.release, func() { b.freePrimitive(primitive) })
	args := []dnnlArg{{dnnlArgSource, source}, {dnnlArgResult, result}}
	return func() { b.do(primitive, args) }, nil
}
