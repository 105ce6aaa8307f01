package bench

import "hwcal/schema"

// ChaseParams of a pointer chase.
type ChaseParams struct {
	Loads    int64 // dependent ones, of one execution
	Resident bool  // all lines are read in order before each sample, untimed, on a CPU
}

// chaseWords is the number of fp64-sized words in a line of 64 bytes, of which the
// chain uses one.
const chaseWords = 8

// Chase follows a random cycle through all lines of a buffer of the given bytes:
// each load gives the address of the next, so that its time is the latency. So slow a reader does not keep a
// shared cache from its neighbours: of 8 MiB in an L3 of 32 a Zen 4 took 128 ns a load, which is that of memory, and takes
// 15 where all of them are read in order before each sample. A resident one is.
func Chase(bytes, loads int64, resident bool) Op {
	return Op{
		Name:   "pointer_chase",
		Out:    &Tensor{Name: "chain", Dims: []int64{bytes / 64, chaseWords}},
		Params: ChaseParams{loads, resident},
	}
}

func init() {
	register(Pattern{
		Name:  "pointer_chase",
		Group: "memory",
		Doc:   "dependent loads in random order: latency, of a cache below 128 MiB",
		Dims:  []string{"bytes"},
		Shapes: func(schema.Mode) []Shape {
			return []Shape{dims([]string{"bytes"}, 16<<10), dims([]string{"bytes"}, 512<<10), dims([]string{"bytes"}, chaseDRAMBytes)}
		},
		Chain: func(s Shape, _ int64) (Chain, error) {
			bytes := max(s.Get("bytes"), 64)
			return Chain{Chase(bytes, chaseLoads, bytes < chaseDRAMBytes)}, nil
		},
	})
}
