package cpu

import "fmt"

// narrowConv is the plan of a convolution in a type narrower than fp32 as an implicit
// GEMM: for each group of channels Y[K, N*PQ] = W[K,CRS] * im2col(X)[CRS, N*PQ], with the
// pixels of all images side by side, and the weights packed once. Each worker packs what
// it needs of im2col(X), block by block.
type narrowConv struct {
	convShape
	gemm   *narrowGEMM // of one group
	planes narrowPlanes
}

func newNarrowConv(u unit, caches cacheSizes, threads int, s convShape) (*narrowConv, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m, n, k := s.product()
	g, err := newNarrowGEMM(u, caches, threads, m, n, k)
	if err != nil {
		return nil, fmt.Errorf("cpu: conv2d %+v: %w", s, err)
	}
	return planNarrowConv(u, g, s), nil
}

func planNarrowConv(u unit, g *narrowGEMM, s convShape) *narrowConv {
	g.packedA = true
	return &narrowConv{s, g, newNarrowPlanes(u, g, s)}
}

// product is the size of that of one group.
func (s convShape) product() (m, n, k int) {
	return s.k / s.groups, s.n * s.p() * s.q(), s.c / s.groups * s.r * s.s
}

// narrowConvScratch is the memory that one worker works in, one run at a time.
type narrowConvScratch struct {
	narrowScratch
	narrowIm2col
}

// planesBytes are those of one worker, in whole cache lines.
func (v *narrowConv) planesBytes() int { return ceilDiv(v.planes.bytes(), 64) * 64 }

// scratchBytes is the size of the memory that newScratch wants.
func (v *narrowConv) scratchBytes() int64 {
	return v.gemm.scratchBytes() + int64(v.gemm.threads()*v.planesBytes())
}

// newScratch cuts mem, aligned to 64 bytes, into the buffers of each worker.
func (v *narrowConv) newScratch(mem []byte) ([]narrowConvScratch, error) {
	parts, err := v.gemm.newScratch(mem)
	if err != nil {
		return nil, err
	}
	mem = mem[v.gemm.scratchBytes():]
	if len(mem) < v.gemm.threads()*v.planesBytes() {
		return nil, fmt.Errorf("cpu: conv2d %+v: planes of %d bytes, want %d for each worker", v.convShape, len(mem), v.planesBytes())
	}
	s := make([]narrowConvScratch, len(parts))
	for i, p := range parts {
		planes := mem[i*v.planesBytes():][:v.planesBytes()]
		s[i] = narrowConvScratch{p, narrowIm2col{narrowPlanes: &v.planes, planes: planes, edge: p.spare}}
	}
	return s, nil
}

// weightsBytes is the length that packWeights wants.
func (v *narrowConv) weightsBytes() int { return v.groups * v.gemm.packedABytes() }

// packWeights packs weights [K,C/groups,R,S] into dst, once for many runs.
func (v *narrowConv) packWeights(dst, weights []byte) {
	g, taps := v.gemm, v.r*v.s
	order := make([]int, g.k) // where in a filter each element of a column is
	for k := range order {
		channel, tap, _ := v.planes.element(k)
		order[k] = (channel+v.planes.blockOf(k)*v.planes.depth)*taps + tap
	}
	size := g.m * g.k * g.size
	for group := range v.groups {
		ordered := weights[group*size:][:size]
		switch {
		case taps == 1: // they are in order
		case g.size == 2:
			ordered = asBytes(reorder(as[uint16](ordered), order))
		default:
			ordered = reorder(ordered, order)
		}
		g.prepackA(dst[group*g.packedABytes():], byteRows{ordered, g.k * g.size})
	}
}

// reorder gives rows of as many elements as order has: element i of each is the one at order[i].
func reorder[T any](rows []T, order []int) []T {
	ordered := make([]T, 0, len(rows))
	for ; len(rows) > 0; rows = rows[len(order):] {
		for _, at := range order {
			ordered = append(ordered, rows[at])
		}
	}
	return ordered
}

// finishChannels makes elements of Y of complete sums: those of m channels from one on,
// and of n pixels of an image, the first of which is element `at` of Y.
type finishChannels func(sums []byte, channel, at, m, n int)

// inImages is what ends the sums of a group: f for each image that has pixels of a tile.
func (v *narrowConv) inImages(group int, f finishChannels) finish {
	pixels, first := v.p()*v.q(), group*v.gemm.m
	return func(sums []byte, i0, j0, m, n int) {
		for n > 0 {
			image, pixel := j0/pixels, j0%pixels
			count := min(n, pixels-pixel)
			f(sums, first+i0, (image*v.k+first+i0)*pixels+pixel, m, count)
			if n -= count; n > 0 {
				sums, j0 = sums[count*accBytes:], j0+count
			}
		}
	}
}

// run computes Y on one worker, as narrowGEMM.run does; ends has one for each group.
func (v *narrowConv) run(id int, s *narrowConvScratch, x, packed []byte, ends []finish) {
	g := v.gemm
	for group := range v.groups {
		s.x = x[group*v.planes.channels*v.h*v.w*g.size:]
		s.start()
		g.compute(id, s.narrowScratch, narrowA{packed: packed[group*g.packedABytes():][:g.packedABytes()]}, &s.narrowIm2col, byteRows{}, ends[group])
	}
}
