package bench

import "slices"

// Storage says where the tensors of a case lie: in so many pieces of memory, each of so many bytes. The
// tensors of a network share them, as those that are read no more leave theirs to later ones; else
// what a network without fusing pays would be for memory that nothing has touched before, which
// no framework does. All others have a piece of their own.
type Storage struct {
	Bytes []int64
	Of    map[*Tensor]int
}

// Storage of the case. A tensor of a network keeps its piece until the last part that reads it has
// ended: one kernel may compute all of a part.
func (c Case) Storage() Storage {
	s := Storage{Of: map[*Tensor]int{}}
	add := func(t *Tensor) {
		if _, have := s.Of[t]; !have {
			s.Of[t] = len(s.Bytes)
			s.Bytes = append(s.Bytes, t.Size(c.DType))
		}
	}
	if c.Parts == nil {
		for _, t := range c.Chain.Tensors() {
			add(t)
		}
		return s
	}
	for _, t := range c.Chain.Inputs() {
		add(t)
	}
	last := map[*Tensor]int{} // part that reads it
	for i, part := range c.Parts {
		for _, op := range part {
			for _, t := range op.In {
				last[t] = i
			}
		}
	}
	var free []int // pieces
	var live []*Tensor
	for i, part := range c.Parts {
		for _, op := range part {
			live = append(live, op.Out)
			need := op.Out.Size(c.DType)
			if at := freePiece(free, s.Bytes, need); at >= 0 {
				s.Of[op.Out] = free[at]
				s.Bytes[free[at]] = max(s.Bytes[free[at]], need)
				free = slices.Delete(free, at, at+1)
			} else {
				add(op.Out)
			}
		}
		live = slices.DeleteFunc(live, func(t *Tensor) bool {
			end, read := last[t]
			if !read || end > i {
				return false // results are kept
			}
			free = append(free, s.Of[t])
			return true
		})
	}
	return s
}

// freePiece is the index of the smallest free piece that is large enough, or else of the largest one;
// negative if none is free.
func freePiece(free []int, bytes []int64, need int64) int {
	found := -1
	for i, piece := range free {
		if found < 0 {
			found = i
			continue
		}
		size, other := bytes[piece], bytes[free[found]]
		if other < need && size > other || size >= need && size < other {
			found = i
		}
	}
	return found
}
