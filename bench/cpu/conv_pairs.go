package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
)

// channelPairs computes a convolution in 16 bits by a plan for fp32: an element of 32 bits is a pair of neighbouring channels
// at one pixel. What only moves elements needs no change; the micro-kernel adds both products of a pair to a sum in fp32. So
// taps are read from X in place, as in fp32, while narrowConv packs X once for each tap. On a Zen 4 256 filters of 3x3 on 14x14
// run at 0.93 of the register peak so, in place of 0.71.
type channelPairs struct {
	convShape
	interleave pairRows
	half       halfKernels
}

// pairRows writes dst[2*j] = src[j] and dst[2*j+1] = src[ld/2+j] for j < n, of 16 bits each; ld is in bytes.
type pairRows func(dst, src *byte, ld, n int)

// pairsPerGroup is the number of pairs of a group; the last one may lack its second channel.
func (p *channelPairs) pairsPerGroup() int { return ceilDiv(p.c/p.groups, 2) }

// shape is that of the convolution in fp32.
func (p *channelPairs) shape() convShape {
	s := p.convShape
	s.c = p.groups * p.pairsPerGroup()
	return s
}

// ofXLen is the number of pairs of X.
func (p *channelPairs) ofXLen() int { return p.n * p.groups * p.pairsPerGroup() * p.h * p.w }

// ofX makes pairs of pixels [first, last) of all images, if there are any: many workers share few lines.
func (p *channelPairs) ofX(dst, x []byte, first, last int) {
	if first == last {
		return
	}
	plane, channels, of := p.h*p.w, p.c/p.groups, p.pairsPerGroup()
	for image := first / plane; image*plane < last; image++ {
		lo, hi := max(first-image*plane, 0), min(last-image*plane, plane)
		for i := range p.groups * of {
			group, pair := i/of, i%of
			from := ((image*p.groups+group)*channels+2*pair)*plane + lo
			to := dst[((image*p.groups*of+i)*plane+lo)*4:][:(hi-lo)*4]
			if 2*pair+1 < channels {
				p.interleave(&to[0], &x[from*2:][:(plane+hi-lo)*2][0], plane*2, hi-lo)
			} else {
				p.half.widenSlice(as[float32](to), as[uint16](x)[from:][:hi-lo]) // the first of the pair is 0
			}
		}
	}
}

// ofFilters makes pairs of weights [K,C/groups,R,S].
func (p *channelPairs) ofFilters(weights []uint16) []float32 {
	channels, of, taps := p.c/p.groups, p.pairsPerGroup(), p.r*p.s
	all := make([]float32, p.k*of*taps)
	for i := range p.k * of {
		filter, pair := i/of, i%of
		from := weights[(filter*channels+2*pair)*taps:]
		for tap := range taps {
			bits := uint32(from[tap]) << 16 // alone, as a number in fp32
			if 2*pair+1 < channels {
				bits = uint32(from[tap]) | uint32(from[taps+tap])<<16
			}
			all[i*taps+tap] = math.Float32frombits(bits)
		}
	}
	return all
}

// bindPairConvs gives a kernel for each plan that may be the fastest; none where the unit has no micro-kernel for pairs.
func bindPairConvs(ws *workspace, c bench.Chain, s convShape) ([]*kernel, error) {
	u, interleave := pairUnit(ws.unit)
	if interleave == nil {
		return nil, nil
	}
	p := &channelPairs{s, interleave, halfKernelsFor(ws.dtype, ws.isa)}
	plans, err := newConvPlans(u, ws.caches, len(ws.workers), p.shape())
	if err != nil {
		return nil, err
	}
	weights, half := halfChannelsOf(ws, c)
	epi := half.epilogue()
	x := ws.bytes(c[0].In[0])
	var kernels []*kernel
	for _, v := range plans {
		paired, bytes := p.together, lengthBytes[float32](p.ofXLen())
		if v.pixelParts() == 1 {
			paired, bytes = p.alone, bytes*int64(len(ws.workers))
		}
		mem, err := ws.sharedScratch(bytes + v.scratchBytes())
		if err != nil {
			return nil, err
		}
		scratch, err := v.newScratch(mem[bytes:])
		if err != nil {
			return nil, err
		}
		packed, err := ws.packedOnce(filterKey(c, "pairs, "+v.layout()), int64(v.weightsLen())*4, func(dst []byte) {
			v.packWeights(as[float32](dst), p.ofFilters(as[uint16](weights())))
		})
		if err != nil {
			return nil, err
		}
		filters := as[float32](packed)
		kernels = append(kernels, &kernel{
			name: fmt.Sprintf("%s_pairs_%s", v.name(), ws.unit.name),
			body: func(w *worker) {
				v.run(w.id, scratch, as[float32](paired(w, mem[:bytes], x)), filters, nil, s.p()*s.q(), epi)
			},
		})
	}
	return kernels, nil
}

// together makes pairs of X, of which each worker has a part: about that which it convolves.
func (p *channelPairs) together(w *worker, mem, x []byte) []byte {
	first, last := w.share(p.n*p.h*p.w, lineElems)
	p.ofX(mem, x, first, last)
	w.barrier()
	return mem
}

// alone makes all pairs of X for this worker alone. Where all workers need all pixels, for filters of their own, pairs that
// another one made would have to come from its cache: so on two threads of a Zen 4 1024x14x14 by 256 filters of 1x1
// took longer than narrowConv, which takes 0.28 ms, and takes 0.25 with pairs made alone.
func (p *channelPairs) alone(w *worker, mem, x []byte) []byte {
	each := len(mem) / w.n
	own := mem[w.id*each:][:each]
	p.ofX(own, x, 0, p.n*p.h*p.w)
	return own
}
