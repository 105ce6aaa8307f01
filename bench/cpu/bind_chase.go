package cpu

import (
	"fmt"
	"unsafe"

	"hwcal/bench"
)

func init() { register("pointer_chase", nil, bindChase) }

// bindChase builds the cycle; worker 0 follows it, from where it last stopped.
func bindChase(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	mem := data[float64](ws, op.Out)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), len(mem))
	at := chasePath(words, ws.seed)
	loads := int(op.Params.(bench.ChaseParams).Loads)
	return &kernel{
		name:    fmt.Sprintf("chase_%s", vecISA(ws.isa, "pointer_chase")),
		private: true,
		body: func(w *worker) {
			if w.id == 0 {
				at = chase(at, loads)
			}
		},
	}, nil
}
