package cpu

import (
	"fmt"
	"unsafe"

	"hwcal/bench"
)

func init() { register("pointer_chase", nil, bindChase) }

// bindChase builds the cycle; worker 0 follows it, from where it last stopped. Before a sample it reads a resident one
// in order.
func bindChase(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	mem := data[float64](ws, op.Out)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), len(mem))
	at := chasePath(words, ws.seed)
	p := op.Params.(bench.ChaseParams)
	loads := int(p.Loads)
	k := &kernel{
		name:    fmt.Sprintf("chase_%s", vecISA(ws.isa, "pointer_chase")),
		private: true,
		body: func(w *worker) {
			if w.id == 0 {
				at = chase(at, loads)
			}
		},
	}
	if p.Resident {
		sum := uint64(0)
		k.before = func(w *worker) {
			if w.id == 0 {
				sum += sweep(words)
			}
		}
	}
	return k, nil
}
