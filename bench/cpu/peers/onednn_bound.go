//go:build linux

package main

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// bound is a primitive with its arguments. The first error stays.
type bound struct {
	*onednn
	pd   uintptr
	args []dnnlArg
	err  error
}

// dnnlArg is dnnl_exec_arg_t.
type dnnlArg struct {
	index  int32
	memory uintptr
}

// arg binds memory as it is.
func (b *bound) arg(index int32, desc unsafe.Pointer, mem buffer) (memory uintptr) {
	if b.err == nil {
		b.err = check("memory", b.memoryCreate(&memory, desc, b.engine, mem.pointer()))
	}
	b.args = append(b.args, dnnlArg{index, memory})
	return memory
}

// laidOut binds new memory in the layout that the primitive picked.
func (b *bound) laidOut(index int32, query int) (desc unsafe.Pointer, memory uintptr) {
	desc = b.queryDesc(b.pd, query, 0)
	mem, err := newBuffer(b.descSize(desc))
	if b.err == nil {
		b.err = err
	}
	return desc, b.arg(index, desc, mem)
}

// input brings an operand into the layout that the primitive picked.
func (b *bound) input(index int32, from unsafe.Pointer, query int, mem buffer) {
	desc, memory := b.laidOut(index, query)
	var plain uintptr
	if b.err == nil {
		b.err = check("memory", b.memoryCreate(&plain, from, b.engine, mem.pointer()))
	}
	if reorder := b.reorder(from, plain, desc, memory); b.err == nil {
		reorder()
	}
}

// output returns what brings the result into row-major order.
func (b *bound) output(to unsafe.Pointer, mem buffer) func() {
	desc, memory := b.laidOut(dnnlArgDest, dnnlQueryDest)
	var plain uintptr
	if b.err == nil {
		b.err = check("memory", b.memoryCreate(&plain, to, b.engine, mem.pointer()))
	}
	return b.reorder(desc, memory, to, plain)
}

func (b *bound) reorder(from unsafe.Pointer, fromMem uintptr, to unsafe.Pointer, toMem uintptr) func() {
	var pd, p uintptr
	if b.err == nil {
		b.err = check("reorder", b.reorderCreate(&pd, from, b.engine, to, b.engine, 0))
	}
	if b.err == nil {
		b.err = check("reorder", b.primitiveCreate(&p, pd))
	}
	args := []dnnlArg{{dnnlArgSource, fromMem}, {dnnlArgDest, toMem}}
	return func() { b.do(p, args) }
}

// do returns when the primitive has ended: that of a CPU runs on the thread that calls.
func (b *bound) do(p uintptr, args []dnnlArg) {
	purego.SyscallN(b.execute, p, b.stream, uintptr(len(args)), uintptr(unsafe.Pointer(&args[0])))
}

func (b *bound) task(finish func()) (task, error) {
	var p uintptr
	if b.err == nil {
		b.err = check("primitive", b.primitiveCreate(&p, b.pd))
	}
	return task{func() { b.do(p, b.args) }, finish}, b.err
}
