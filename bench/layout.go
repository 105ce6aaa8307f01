package bench

import "slices"

// Which physical pages lie behind a buffer decides which of its lines compete for a set of a
// cache, and two kernels of the same data suffer from it unequally: of a matrix as large as L2, a
// pair was 0.998 on some pages and 1.045 on others, time and again, with intervals of half a
// percent (Mytkowicz, Diwan, Hauswirth and Sweeney, Producing Wrong Data Without Doing Anything
// Obviously Wrong, 2009). So the blocks of a pair take turns between layouts, each with tensors of
// its own, and the interval is that of the median layout.

// layoutBytes is what the tensors of all layouts of a case take together, at most. A case larger than a fifth of it
// has a single layout: on so many pages the effect averages out. There are never two to four: the range of the
// medians of five layouts misses the median of all possible ones once in sixteen times, that of two every other time.
const layoutBytes = 256 << 20

// layoutCounts divide the looks, so that each layout counts alike.
var layoutCounts = []int64{10, 5, 1}

// layout is one place in memory of a pair.
type layout struct {
	ws    []Workspace // of each case: of the one of a pair, or of the two whose implementations are compared
	sides [2]side     // unfused, fused
}

type layouts []layout

// layoutsOf is how many layouts a pair has. One is enough on a GPU, which hashes addresses over its
// caches, and for cold runs, whose data does not compete for sets with what it left there before.
func (r *Runner) layoutsOf(cases []Case) int {
	if c := cases[0]; c.Place.Threads == 0 || c.Cold {
		return 1
	}
	var bytes int64
	for _, c := range cases {
		bytes += c.Footprint()
	}
	room := int64(layoutBytes)
	if r.Memory > 0 {
		room = min(room, r.Memory)
	}
	i := slices.IndexFunc(layoutCounts, func(n int64) bool { return n*bytes <= room || n == 1 })
	return int(layoutCounts[i])
}

// layouts binds the sides of a pair in each of its layouts. What was opened is to be closed even after
// an error.
func (r *Runner) layouts(bind func(ws []Workspace) ([2]side, error), cases ...Case) (ls layouts, err error) {
	if err := r.fits(cases...); err != nil {
		return nil, err
	}
	for range r.layoutsOf(cases) {
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
