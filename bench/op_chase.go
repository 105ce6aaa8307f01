package bench

import "hwcal/schema"

// ChaseParams is the number of dependent loads of one execution.
type ChaseParams struct{ Loads int64 }

// chaseWords is the number of fp64-sized words in a line of 64 bytes, of which the
// chain uses one.
const chaseWords = 8

// Chase follows a random cycle through all lines of a buffer of the given bytes:
// each load gives the address of the next, so that its time is the latency.
func Chase(bytes, loads int64) Op {
	return Op{
		Name:   "pointer_chase",
		Out:    &Tensor{Name: "chain", Dims: []int64{bytes / 64, chaseWords}},
		Params: ChaseParams{loads},
	}
}

func init() {
	Register(Pattern{
		Name:  "pointer_chase",
		Group: "memory",
		Doc:   "dependent loads in random order: latency",
		Dims:  []string{"bytes"},
		Shapes: func(schema.Mode) []Shape {
			return []Shape{dims([]string{"bytes"}, 16<<10), dims([]string{"bytes"}, 512<<10), dims([]string{"bytes"}, chaseDRAMBytes)}
		},
		Chain: func(s Shape, _ int64) (Chain, error) {
			return Chain{Chase(max(s.Get("bytes"), 64), chaseLoads)}, nil
		},
	})
}
