package cpu

// narrowPlanes is how blocks of im2col(X)[CRS, N*PQ] of one group of channels are found,
// where the pixels of all images stand side by side. k runs over blocks of as many
// channels as a step is deep, in each over the taps, and then the channels: a step of a
// whole block is one tap of all its channels.
//
// A tap (r, s) finds its pixels as the output has them in planes of X that are shifted by
// s and have the rows of the phase r % stride alone, r/stride rows further: those of many
// neighbours are in one piece, and can be packed as a matrix is. Planes with as many rows
// as a block of columns needs are made for one block of channels at a time and stay in
// L2 for all of its taps. A convolution of single pixels has X itself for planes.
//
// Lengths are in elements.
type narrowPlanes struct {
	*narrowGEMM
	shape  convShape
	depth  int // channels of a block
	phases int
	below  int // rows that the last tap of a phase needs beyond those of the output
	ld     int // of planes
}

func newNarrowPlanes(g *narrowGEMM, s convShape) narrowPlanes {
	p := narrowPlanes{narrowGEMM: g, shape: s, phases: min(s.stride, s.r), below: (s.r - 1) / s.stride}
	p.depth = min(stepBytes/g.size, p.channels())
	if s.plain() {
		p.ld = s.h * s.w
		return p
	}
	// A block of columns begins and ends in the middle of rows, in each image.
	images := min(ceilDiv(g.nc, s.p()*s.q())+1, s.n)
	p.ld = (g.nc/s.q()+images*(2+p.below))*s.q() + g.nr
	return p
}

// channels and taps are those of one filter.
func (p *narrowPlanes) channels() int { return p.shape.c / p.shape.groups }
func (p *narrowPlanes) taps() int     { return p.shape.r * p.shape.s }

// bytes is the size of the planes of a block of channels.
func (p *narrowPlanes) bytes() int {
	if p.shape.plain() {
		return 0
	}
	return p.shape.s * p.phases * p.depth * p.ld * p.size
}

// blockOf is the block of channels of an element of k, or the one behind the last.
func (p *narrowPlanes) blockOf(k int) int {
	return min(k/(p.depth*p.taps()), ceilDiv(p.channels(), p.depth))
}

// element says what element k is: a channel of a block of so many, and a tap.
func (p *narrowPlanes) element(k int) (channel, tap, channels int) {
	block := p.blockOf(k)
	channels = min(p.depth, p.channels()-block*p.depth)
	k -= block * p.depth * p.taps()
	return k % channels, k / channels, channels
}

// narrowIm2col gives the blocks that one worker multiplies.
type narrowIm2col struct {
	*narrowPlanes
	x      []byte // from the first channel of the group on
	planes []byte
	edge   []byte  // a step of a panel that is not in one piece
	pieces []piece // of the columns from j0 on, in the planes of a block of channels
	j0     int
	inside int // that block
}

// piece is a run of columns that are neighbours in one image, the first of which is in
// row y of the output: column j is element at+j of a plane.
type piece struct{ from, to, at, image, y int }

// start forgets what was before: X may be another.
func (b *narrowIm2col) start() { b.j0, b.inside = -1, -1 }

// block packs a block as packBlockB does.
func (b *narrowIm2col) block(dst []byte, j0, n, pc, steps int) []byte {
	if b.j0 != j0 {
		b.j0, b.inside = j0, -1
		b.cut(j0, n)
	}
	perStep, groups := stepBytes/b.size, stepBytes/b.size/b.group
	for step := range steps {
		k := (pc + step) * perStep
		if block := b.blockOf(k); block != b.inside {
			b.inside = block
			b.split()
		}
		_, tap, channels := b.element(k)
		data, from, ld := b.tapAt(tap, 0)
		rest := b.pieces
		for j := j0; j < j0+n; j += b.nr {
			panel := &dst[(j-j0)/b.nr*b.panelB(steps)+step*b.nr*stepBytes]
			for rest[0].to <= j {
				rest = rest[1:]
			}
			at := from + rest[0].at + j
			if channels == perStep && min(j+b.nr, j0+n) <= rest[0].to && at+(perStep-1)*ld+b.nr <= len(data)/b.size {
				b.packB(panel, &data[at*b.size], ld*b.size, groups)
				continue
			}
			b.gather(rest, j, min(j+b.nr, j0+n), k)
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

// tapAt is where in what data a channel of the block has the pixels of a tap, and how far
// that of the next is.
func (b *narrowIm2col) tapAt(tap, channel int) (data []byte, at, ld int) {
	s := &b.shape
	if s.plain() {
		return b.x, (b.inside*b.depth + channel) * b.ld, b.ld
	}
	dy, dx := tap/s.s, tap%s.s
	plane := (dx*b.phases+dy%s.stride)*b.depth + channel
	return b.planes, plane*b.ld + dy/s.stride*s.q(), b.ld
}

// gather copies the columns [j, j1) of the elements of a step from k on to edge, with zeros
// behind the last.
func (b *narrowIm2col) gather(pieces []piece, j, j1, k int) {
	clear(b.edge)
	for row := range min(stepBytes/b.size, b.k-k) {
		channel, tap, _ := b.element(k + row)
		data, from, _ := b.tapAt(tap, channel)
		to := b.edge[row*b.nr*b.size:]
		for i, at := 0, j; at < j1; i++ {
			end := min(pieces[i].to, j1)
			copy(to[(at-j)*b.size:(end-j)*b.size], data[(from+pieces[i].at+at)*b.size:])
			at = end
		}
	}
}

// cut finds the pieces of n columns from j0 on.
func (b *narrowIm2col) cut(j0, n int) {
	s := &b.shape
	b.pieces = b.pieces[:0]
	rows := 0 // of the planes, before this piece
	for j := j0; j < j0+n; {
		p := piece{from: j, image: j / b.pixels()}
		first := p.image * b.pixels()
		p.to = min(first+b.pixels(), j0+n)
		p.y = (j - first) / s.q()
		if s.plain() {
			p.at = p.image*s.c*b.ld - first
		} else {
			p.at = (rows-p.y)*s.q() - first
		}
		rows += b.height(p)
		b.pieces = append(b.pieces, p)
		j = p.to
	}
}

func (p *narrowPlanes) pixels() int { return p.shape.p() * p.shape.q() }

// height is the number of rows that a plane has for a piece.
func (p *narrowPlanes) height(c piece) int {
	return (c.to-1-c.image*p.pixels())/p.shape.q() - c.y + 1 + p.below
}

// split makes the planes of the block of channels.
func (b *narrowIm2col) split() {
	s := &b.shape
	if s.plain() {
		return
	}
	first := b.inside * b.depth
	for channel := range min(b.depth, b.channels()-first) {
		for _, p := range b.pieces {
			from := b.x[(p.image*s.c+first+channel)*s.h*s.w*b.size:][:s.h*s.w*b.size]
			for tap := range s.s {
				for phase := range b.phases {
					_, at, _ := b.tapAt(phase*s.s+tap, channel)
					to := b.planes[(at+p.at+p.image*b.pixels()+p.y*s.q())*b.size:]
					for row := range b.height(p) {
						b.row(to[row*s.q()*b.size:][:s.q()*b.size], from, (p.y+row)*s.stride+phase-s.pad, tap-s.pad)
					}
				}
			}
		}
	}
}

// row copies every stride-th pixel of row y of a plane of X, from column x on; what is
// beyond its border is zero.
func (b *narrowIm2col) row(dst, plane []byte, y, x int) {
	s := &b.shape
	if y < 0 || y >= s.h {
		clear(dst)
		return
	}
	lo := min(ceilDiv(max(-x, 0), s.stride), s.q())
	hi := max(min(ceilDiv(max(s.w-x, 0), s.stride), s.q()), lo)
	clear(dst[:lo*b.size])
	clear(dst[hi*b.size:])
	if lo == hi {
		return
	}
	dst, src := dst[lo*b.size:hi*b.size], plane[(y*s.w+x+lo*s.stride)*b.size:]
	switch {
	case s.stride == 1:
		copy(dst, src)
	case b.size == 1:
		everyPixel(dst, src, s.stride)
	default:
		everyPixel(as[uint16](dst), as[uint16](src), s.stride)
	}
}

// everyPixel copies each stride-th pixel.
func everyPixel[T uint8 | uint16](dst, src []T, stride int) {
	src = src[:(len(dst)-1)*stride+1]
	for i := range dst {
		dst[i] = src[i*stride]
	}
}

// ahead is the part of X of which the next block makes planes.
func (b *narrowIm2col) ahead(j0, n, pc, steps int) lookahead {
	s := &b.shape
	last := min(pc+steps, b.steps) - 1
	block := b.blockOf(last * stepBytes / b.size)
	if j0 == b.j0 && block == b.inside && !s.plain() {
		return ahead(b.x, len(b.x), 0, 0, steps) // they are there
	}
	first := j0 % b.pixels() / s.q() * s.stride * s.w
	rows := ceilDiv(n, s.q()) * s.stride
	at := (j0/b.pixels()*s.c+block*b.depth)*s.h*s.w + first
	return ahead(b.x, at*b.size, s.h*s.w*b.size, rows*s.w*b.size, steps)
}
