package cpu

import (
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// Library is an external one that is found at run time, or not. It is loaded when it is
// first asked for what it might have, and runs only what a case asks it for by its name.
type Library interface {
	Name() string
	// Has says whether the library was found and computes a chain in a type.
	Has(chain string, d schema.DType) bool
	// Lacking says why it was not found; nil if it was, or was not looked for yet.
	Lacking() error
	// Bind prepares a chain on the thread that will call it.
	Bind(c bench.Chain, d schema.DType, t Threads, o Operands) (Call, error)
}

// Threads are those that a library may use: one on each of the CPUs, the calling one on the first.
type Threads struct {
	CPUs []int
	// On does something while the calling thread is bound to another CPU, which threads that it
	// starts inherit.
	On func(cpu int, f func())
}

// Operands are the tensors of a case, in row-major order, and memory beside them.
type Operands struct {
	Of    func(*bench.Tensor) []byte
	Alloc func(bytes int64) ([]byte, error)
}

// Call is a chain that a library computes.
type Call struct {
	Name string // of the library, with its version, and of what it runs
	Run  func()
	// Deliver brings the result to its tensor, untimed, if Run leaves it elsewhere; nil if not.
	Deliver func()
	Close   func() // gives back what the library holds; nil for nothing
}

// library is the one of that name if it has the chain.
func (b *Backend) library(name, chain string, d schema.DType) Library {
	i := slices.IndexFunc(b.libraries, func(l Library) bool { return l.Name() == name })
	if i < 0 || !b.libraries[i].Has(chain, d) {
		return nil
	}
	return b.libraries[i]
}

// Lacking says of each library that was looked for in vain why it is not there.
func (b *Backend) Lacking() map[string]string {
	why := map[string]string{}
	for _, l := range b.libraries {
		if err := l.Lacking(); err != nil {
			why[l.Name()] = err.Error()
		}
	}
	return why
}

// bindLibrary is the kernel of a library.
func (ws *workspace) bindLibrary(c bench.Chain) (*kernel, error) {
	var call Call
	var err error
	ws.team.alone(func(w *worker) {
		call, err = ws.library.Bind(c, ws.dtype, Threads{ws.cpus, w.on}, Operands{ws.bytes, ws.memory.alloc})
	})
	if err != nil {
		return nil, err
	}
	if call.Close != nil {
		ws.closers = append(ws.closers, call.Close)
	}
	return &kernel{name: call.Name, solo: true, deliver: call.Deliver, body: func(*worker) { call.Run() }}, nil
}
