package cpu

// narrowPlanes maps im2col(X)[CRS, N*PQ] of one group of channels, the pixels of all images side
// by side, to copies of X from which it is packed. The order of k is: blocks of as many channels as
// a step is deep; in each, the taps; in each, the channels. A step of a whole block is one tap of
// all its channels.
//
// For each column s of the filter and each phase r % stride there is a plane: X shifted by s, and of
// it the rows of the phase and every stride-th column, in the order of the output. Tap (r, s) reads it
// r/stride rows further down: the pixels of neighbouring columns are contiguous and are packed as those
// of a matrix. Planes with the rows that a block of columns needs are made for one block of channels at
// a time, and stay in L2 for all its taps. A 1x1 convolution without stride and padding has X for planes.
//
// Lengths are in elements.
type narrowPlanes struct {
	*narrowGEMM
	shape          convShape
	plain          bool
	q, pixels      int // of the output
	channels, taps int // of a filter
	depth          int // channels of a block
	phases         int
	below          int // rows of a plane that its last tap needs beyond those of the output
	ld             int // from the plane of a channel to that of the next
	second         everySecondKernel
}

// everySecondKernel writes dst[i*ldd+j] = src[i*lds+2*j] for i < m and j < n, of elements of
// the unit, but ldd and lds are in bytes. It reads src[i*lds+2*j+1] too.
type everySecondKernel func(dst, src *byte, ldd, lds, m, n int)

func newNarrowPlanes(u unit, g *narrowGEMM, s convShape) narrowPlanes {
	p := narrowPlanes{
		narrowGEMM: g, shape: s, plain: s.plain(),
		q: s.q(), pixels: s.p() * s.q(), channels: s.c / s.groups, taps: s.r * s.s,
		phases: min(s.stride, s.r), below: (s.r - 1) / s.stride,
	}
	if s.stride == 2 {
		p.second = everySecondFor(u)
	}
	p.depth = min(stepBytes/g.size, p.channels)
	if p.plain {
		p.ld = s.h * s.w
		return p
	}
	// A block of columns begins and ends in the middle of rows, in each image.
	images := min(ceilDiv(g.nc, p.pixels)+1, s.n)
	p.ld = (g.nc/p.q+images*(2+p.below))*p.q + g.nr
	return p
}

// bytes is the size of the planes of a block of channels.
func (p *narrowPlanes) bytes() int {
	if p.plain {
		return 0
	}
	return p.shape.s * p.phases * p.depth * p.ld * p.size
}

// blockOf is the block of channels of element k of a column.
func (p *narrowPlanes) blockOf(k int) int { return k / (p.depth * p.taps) }

// element says what element k is: a channel of its block, which has so many, and a tap.
func (p *narrowPlanes) element(k int) (channel, tap, channels int) {
	block := p.blockOf(k)
	channels = min(p.depth, p.channels-block*p.depth)
	k -= block * p.depth * p.taps
	return k % channels, k / channels, channels
}

// narrowIm2col gives the blocks that one worker multiplies.
type narrowIm2col struct {
	*narrowPlanes
	x      []byte // from the first channel of the group on
	planes []byte
	edge   []byte  // a step of a panel that is not in one piece
	pieces []piece // of the columns from j0 on
	j0     int
	inside int // the block of channels that there are planes of
}

// piece is a run of columns of one image, up to column `to`: column j is element at+j of a
// plane. The first one is in row y of the output; the plane has `rows` rows for the piece,
// from element `from` on.
type piece struct{ to, at, image, y, rows, from int }

// start forgets what was before: X may be another.
func (b *narrowIm2col) start() { b.j0, b.inside = -1, -1 }

// block packs a block as packBlockB does.
func (b *narrowIm2col) block(dst []byte, j0, n, pc, steps int) []byte {
	if b.j0 != j0 {
		b.j0, b.inside = j0, -1
		b.cut(j0, n)
	}
	depth := stepBytes / b.size
	groups := depth / b.group
	for step := range steps {
		k := (pc + step) * depth
		if block := b.blockOf(k); block != b.inside {
			b.inside = block
			b.split()
		}
		channel, tap, channels := b.element(k)
		data, first := b.tapAt(tap)
		most := len(data)/b.size - (depth-1)*b.ld - b.nr // where a step may begin
		rest := b.pieces
		for j := j0; j < j0+n; j += b.nr {
			panel := &dst[(j-j0)/b.nr*b.panelB(steps)+step*b.nr*stepBytes]
			for rest[0].to <= j {
				rest = rest[1:]
			}
			end := min(j+b.nr, j0+n)
			if at := first + rest[0].at + j; channels == depth && end <= rest[0].to && at <= most {
				b.packB(panel, &data[at*b.size], b.ld*b.size, groups)
				continue
			}
			b.gather(rest, j, end, channel, tap, channels, min(depth, b.k-k))
			b.packB(panel, &b.edge[0], b.nr*b.size, groups)
		}
	}
	if b.sumB != nil {
		for j := 0; j < n; j += b.nr {
			b.sumB(&dst[j/b.nr*b.panelB(steps)], steps*groups)
		}
	}
	return dst
}

// tapAt gives the planes, or X, and the offset in them of a tap of the first channel of the block.
func (b *narrowIm2col) tapAt(tap int) (data []byte, at int) {
	s := &b.shape
	if b.plain {
		return b.x, b.inside * b.depth * b.ld
	}
	dy, dx := tap/s.s, tap%s.s
	return b.planes, (dx*b.phases+dy%s.stride)*b.depth*b.ld + dy/s.stride*b.q
}

// gather copies columns [j, j1) to edge where a step is not contiguous: so many elements of k,
// from a channel and tap on, padded with zeros to a whole step.
func (b *narrowIm2col) gather(pieces []piece, j, j1, channel, tap, channels, elements int) {
	width := b.nr * b.size
	data, from := b.tapAt(tap)
	for row := range elements {
		to := b.edge[row*width:][:(j1-j)*b.size]
		at, i := j, 0
		for ; at < j1; i++ {
			p := &pieces[i]
			n := copy(to[:min(len(to), (p.to-at)*b.size)], data[(from+channel*b.ld+p.at+at)*b.size:])
			to, at = to[n:], at+n/b.size
		}
		if channel++; channel == channels {
			channel, tap = 0, tap+1
			if row+1 < elements {
				data, from = b.tapAt(tap)
			}
		}
	}
	clear(b.edge[elements*width:])
}

// cut finds the pieces of n columns from j0 on.
func (b *narrowIm2col) cut(j0, n int) {
	b.pieces = b.pieces[:0]
	rows := 0 // of the planes, before this piece
	for j := j0; j < j0+n; {
		p := piece{image: j / b.pixels, from: rows * b.q}
		first := p.image * b.pixels
		p.to = min(first+b.pixels, j0+n)
		p.y = (j - first) / b.q
		p.rows = (p.to-1-first)/b.q - p.y + 1 + b.below
		p.at = p.from - p.y*b.q - first
		if b.plain {
			p.at = p.image*b.shape.c*b.ld - first
		}
		b.pieces = append(b.pieces, p)
		rows, j = rows+p.rows, p.to
	}
}

// split makes the planes of the block of channels.
func (b *narrowIm2col) split() {
	if b.plain {
		return
	}
	s := &b.shape
	image, first := s.h*s.w*b.size, b.inside*b.depth
	for tap := range s.s * b.phases {
		dy, dx := tap/s.s, tap%s.s
		_, from := b.tapAt(tap)
		for _, p := range b.pieces {
			r := b.shifted(p.y*s.stride+dy-s.pad, dx-s.pad, p.rows)
			for channel := range min(b.depth, b.channels-first) {
				at := from + channel*b.ld + p.from
				r.copy(b.planes[at*b.size:], b.x[(p.image*s.c+first+channel)*image:])
			}
		}
	}
}

// shiftedRows describes how the rows of a plane are made of X: every stride-th of it, from row y
// and column x on. There are `above` bytes of padding, then `within` rows of X, then `below` bytes of
// padding; in a row of X [lo, hi) comes from X and the rest is padding. Lengths are in bytes.
type shiftedRows struct {
	above, within, below, lo, hi, row int
	from, next                        int // the first pixel, and how far that of the next row is
	size, stride                      int
	joined                            bool // no gap between the rows
	second                            everySecondKernel
}

func (p *narrowPlanes) shifted(y, x, rows int) shiftedRows {
	s := &p.shape
	above := min(ceilDiv(max(-y, 0), s.stride), rows)
	end := clamp(ceilDiv(max(s.h-y, 0), s.stride), above, rows)
	lo := min(ceilDiv(max(-x, 0), s.stride), p.q)
	hi := clamp(ceilDiv(max(s.w-x, 0), s.stride), lo, p.q)
	if lo == hi { // all is padding
		above, end = rows, rows
	}
	row := p.q * p.size
	return shiftedRows{
		above * row, end - above, (rows - end) * row, lo * p.size, hi * p.size, row,
		((y+above*s.stride)*s.w + x + lo*s.stride) * p.size, s.stride * s.w * p.size,
		p.size, s.stride, s.stride == 1 && p.q == s.w, p.second,
	}
}

// copy fills the rows of dst from X, of which src begins with the plane.
func (r *shiftedRows) copy(dst, src []byte) {
	clear(dst[:r.above])
	dst = dst[r.above:]
	clear(dst[r.within*r.row:][:r.below])
	if r.within == 0 {
		return
	}
	done := 0 // rows
	switch pixels := (r.hi - r.lo) / r.size; {
	case r.joined:
		copy(dst[r.lo:(r.within-1)*r.row+r.hi], src[r.from:])
		done = r.within
	case r.second != nil:
		done = r.within
		if r.from+(r.within-1)*r.next+2*pixels*r.size > len(src) {
			done-- // nothing is behind its last pixel
		}
		if done > 0 {
			r.second(&dst[r.lo], &src[r.from], r.row, r.next, done, pixels)
		}
	}
	if done == r.within && r.lo == 0 && r.hi == r.row {
		return
	}
	for i := range r.within {
		row := dst[i*r.row:][:r.row]
		clearFew(row[:r.lo])
		clearFew(row[r.hi:])
		if i < done {
			continue
		}
		switch to, from := row[r.lo:r.hi], src[r.from+i*r.next:]; {
		case r.stride == 1:
			copy(to, from)
		case r.size == 1:
			everyPixel(to, from, r.stride)
		default:
			everyPixel(as[uint16](to), as[uint16](from), r.stride)
		}
	}
}

// clearFew clears so few bytes that a call takes longer.
func clearFew(b []byte) {
	for i := 0; i < len(b); i++ {
		b[i] = 0
	}
}

// everyPixel copies each stride-th pixel.
func everyPixel[T uint8 | uint16](dst, src []T, stride int) {
	src = src[:(len(dst)-1)*stride+1]
	for i, at := 0, 0; i < len(dst) && at < len(src); i, at = i+1, at+stride {
		dst[i] = src[at]
	}
}

// ahead is the part of X of which the next block makes planes.
func (b *narrowIm2col) ahead(j0, n, pc, steps int) lookahead {
	s := &b.shape
	last := min(pc+steps, b.steps) - 1
	block := b.blockOf(last * stepBytes / b.size)
	if j0 == b.j0 && block == b.inside && !b.plain {
		return ahead(b.x, len(b.x), 0, 0, steps) // they are there
	}
	y := j0 % b.pixels / b.q * s.stride
	rows := ceilDiv(n, b.q) * s.stride
	at := (j0/b.pixels*s.c+block*b.depth)*s.h + y
	return ahead(b.x, at*s.w*b.size, s.h*s.w*b.size, rows*s.w*b.size, steps)
}
