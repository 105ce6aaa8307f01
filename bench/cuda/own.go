package cuda

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/schema"
)

// launcher is a kernel of ours with its geometry and arguments.
type launcher struct {
	ws       *workspace
	function Function
	grid     Grid
	args     []Arg
}

func (l launcher) enqueue() error {
	return l.ws.context.Launch(l.function, l.grid, l.args...)
}

// ours is a kernel of our own sources: the function of that name in the unit of the workspace's
// type. The name of the implementation is that of the function, with the type.
func (ws *workspace) ours(source, function string, g Grid, args ...Arg) (*kernel, error) {
	return ws.oursIn(Unit{source, ws.dtype}, function, g, args...)
}

// oursIn is for a unit of another type, or of none.
func (ws *workspace) oursIn(u Unit, function string, g Grid, args ...Arg) (*kernel, error) {
	f, err := ws.backend.function(u, function)
	if err != nil {
		return nil, err
	}
	return &kernel{name: nameOf(function, u.DType), enqueue: launcher{ws, f, g, args}.enqueue}, nil
}

func nameOf(function string, d schema.DType) string {
	name := own.String() + "_" + function
	if d != "" {
		name += "_" + string(d)
	}
	return name
}

// mostCounted is the largest size that kernels count in 32 bits, with room for a step of all threads of a block behind it.
const mostCounted = math.MaxInt32 - 1<<14

// counted refuses sizes that they cannot.
func counted(sizes ...int64) error {
	for _, n := range sizes {
		if n > mostCounted {
			return fmt.Errorf("cuda: a size of %d, of which the kernels count %d: %w", n, mostCounted, bench.ErrUnsupported)
		}
	}
	return nil
}

// linear is a grid of threads over n items, each of which takes `each` of them.
func linear(n int64, threads, each int) Grid {
	items := int64(threads) * int64(each)
	return Grid{Blocks: [3]int{int((n + items - 1) / items)}, Threads: [3]int{threads}}
}

// scalar is an argument of the type `acc` of the kernels in floating types: double in fp64, else float.
func (ws *workspace) scalar(v float64) Arg {
	if ws.dtype == schema.FP64 {
		return Double(v)
	}
	return Float(v)
}
