//go:build linux && (amd64 || arm64)

package external

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/bench/cpu"
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
	err       error
}

// dnnlArg is a dnnl_exec_arg_t.
type dnnlArg struct {
	index  int32
	memory uintptr
}

func (l *oneDNN) newBinding(o cpu.Operands) *binding { return &binding{oneDNN: l, Operands: o} }

func (b *binding) close() {
	for _, f := range slices.Backward(b.release) {
		f()
	}
}

// run ends when the primitive has: that of a CPU is executed on the thread that calls. One that fails
// leaves a result that verification refuses.
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

// fail keeps the first error, behind which nothing more is done.
func (b *binding) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// planned keeps the plan that a call has made.
func (b *binding) planned(what string, status dnnlStatus) {
	b.fail(status.check(what))
	if b.err == nil {
		b.release = append(b.release, func() { b.freePlan(b.plan) })
	}
}

// plain describes a tensor in row-major order, any one in an order that the library picks.
func (b *binding) plain(dims []int64, dtype int32) desc { return b.describe(dims, dtype, false) }

func (b *binding) any(dims []int64, dtype int32) desc { return b.describe(dims, dtype, true) }

func (b *binding) describe(dims []int64, dtype int32, picked bool) desc {
	d, status := b.newDesc(dims, dtype, picked)
	b.fail(status.check("tensor"))
	if b.err == nil {
		b.release = append(b.release, func() { b.freeDesc(d) })
	}
	return d
}

// memory is a tensor of the library over memory of ours.
func (b *binding) memory(d desc, mem []byte) (memory uintptr) {
	if b.err != nil {
		return 0
	}
	b.fail(b.newMemory(&memory, d, b.engine, address(mem)).check("memory"))
	b.release = append(b.release, func() { b.freeMemory(memory) })
	return memory
}

func (b *binding) arg(index int32, memory uintptr) { b.args = append(b.args, dnnlArg{index, memory}) }

// laidOut binds an argument in the layout of the plan: the tensor itself, or new memory. It returns how
// to bring the one into the other, if they are two.
func (b *binding) laidOut(index, query int32, plain desc, t *bench.Tensor, into bool) (reorder func()) {
	tensor := b.memory(plain, b.Of(t))
	if b.err != nil {
		return nil
	}
	d := b.queryDesc(b.plan, query, 0)
	if b.descEqual(d, plain) != 0 {
		b.arg(index, tensor)
		return nil
	}
	mem, err := b.Alloc(int64(b.descBytes(d)))
	b.fail(err)
	own := b.memory(d, mem)
	b.arg(index, own)
	if into {
		return b.reorder(plain, tensor, d, own)
	}
	return b.reorder(d, own, plain, tensor)
}

func (b *binding) input(index, query int32, dims []int64, dtype int32, t *bench.Tensor) {
	if reorder := b.laidOut(index, query, b.plain(dims, dtype), t, true); reorder != nil {
		reorder()
	}
}

func (b *binding) output(t *bench.Tensor, dtype int32) {
	b.deliver = b.laidOut(dnnlArgResult, dnnlQueryResult, b.plain(t.Dims, dtype), t, false)
}

func (b *binding) reorder(from desc, source uintptr, to desc, result uintptr) func() {
	if b.err != nil {
		return nil
	}
	var plan uintptr
	if b.fail(b.newReorderPlan(&plan, from, b.engine, to, b.engine, 0).check("reorder")); b.err != nil {
		return nil
	}
	defer b.freePlan(plan)
	primitive := b.create(plan)
	if b.err != nil {
		return nil
	}
	args := []dnnlArg{{dnnlArgSource, source}, {dnnlArgResult, result}}
	return func() { b.do(primitive, args) }
}

// create makes the primitive of a plan.
func (b *binding) create(plan uintptr) (primitive uintptr) {
	if b.err != nil {
		return 0
	}
	if b.fail(b.newPrimitive(&primitive, plan).check("primitive")); b.err == nil {
		b.release = append(b.release, func() { b.freePrimitive(primitive) })
	}
	return primitive
}
