package cpu

// convSteps is the order of the steps of k: over blocks of channels, then over the taps
// (r, s), then over the channels of the block. So many steps in a row have a tap in
// common, and all taps of a block find its pixels in L1.
type convSteps struct {
	channels int // of one group
	block    int // channels of a block
	tapCount int
	order    []int // of the taps
}

// channelBlock is as many channels as a run may have before the rows of a plane that
// its taps share leave L1: with longer runs the sums are seldom written between.
const channelBlock = 128

func newConvSteps(s convShape) convSteps {
	st := convSteps{channels: s.c / s.groups, tapCount: s.r * s.s}
	for tap := range st.tapCount {
		st.order = append(st.order, tap)
	}
	st.block = st.channels
	if st.tapCount > 1 {
		st.block = min(st.channels, channelBlock)
	}
	return st
}

// step is the channel and the tap of a step.
func (s convSteps) step(p int) (channel, tap int) {
	first := p / (s.block * s.tapCount) * s.block
	size := min(s.block, s.channels-first)
	p -= first * s.tapCount
	return first + p%size, s.order[p/size]
}

// run is a step, and how many from it on, at most limit, have its tap.
func (s convSteps) run(p, limit int) (channel, tap, n int) {
	channel, tap = s.step(p)
	end := min(channel/s.block*s.block+s.block, s.channels)
	return channel, tap, min(end-channel, limit)
}

// inSteps gives weights [k,C/groups,R,S] with the steps in order: [k][step].
func inSteps[T float](s convSteps, weights []T, k int) []T {
	steps := s.channels * s.tapCount
	ordered := make([]T, k*steps)
	for p := range steps {
		c, tap := s.step(p)
		for i := range k {
			ordered[i*steps+p] = weights[i*steps+c*s.tapCount+tap]
		}
	}
	return ordered
}
