package bench

import "hwcal/bench/stat"

// Which physical pages lie behind a buffer decides which of its lines compete for a set of a
// cache, and two kernels of the same data suffer from it unequally: of a matrix as large as L2, a
// pair was 0.998 on some pages and 1.045 on others, time and again, with intervals of half a
// percent (Mytkowicz, Diwan, Hauswirth and Sweeney, Producing Wrong Data Without Doing Anything
// Obviously Wrong, 2009). So the blocks of a pair take turns between layouts, each with memory of
// its own, and the interval is that of the median layout.

// layoutBytes is the memory of all layouts of a case together: what takes more lies on so many
// pages that it has its average within itself.
const layoutBytes = 64 << 20

// layout is one place in memory of a pair.
type layout struct {
	ws    []Workspace // of each case: of the one of a pair, or of the two whose implementations are compared
	sides [2][]Kernel // unfused, fused
}

type layouts []layout

// layouts binds the sides of a pair in as many layouts as the first look has blocks, if there is
// memory for them. A device that is not divided into threads spreads addresses over its caches by
// itself: it has one. What was opened is to be closed even after an error.
func (r *Runner) layouts(bind func(ws []Workspace) ([2][]Kernel, error), cases ...Case) (ls layouts, err error) {
	n := 1
	if cases[0].Place.Threads > 0 {
		n = int(min(max(layoutBytes/(int64(len(cases))*cases[0].footprint()), 1), int64(stat.Looks[0])))
	}
	for range n {
		ls = append(ls, layout{})
		l := &ls[len(ls)-1]
		for _, c := range cases {
			ws, err := r.open(c)
			if err != nil {
				return ls, err
			}
			l.ws = append(l.ws, ws)
		}
		if l.sides, err = bind(l.ws); err != nil {
			return ls, err
		}
	}
	return ls, nil
}

func (ls layouts) close() {
	for _, l := range ls {
		for _, ws := range l.ws {
			ws.Close()
		}
	}
}
