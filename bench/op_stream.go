package bench

import (
	"hwcal/bench/ref"
	"hwcal/schema"
)

// Stream is a bandwidth kernel. Bytes are STREAM's: each array read or written
// once; that a cache reads a line before it writes it is not counted.
type Stream struct {
	Name   string
	Doc    string
	Reads  int
	Writes int
	scalar float64
	main   bool // measured in quick runs too, and over the number of threads
}

// streamScalar is the factor s of scale and triad.
const streamScalar = 3.0

// Streams are the bandwidth kernels under their field's names; _nt writes past
// the caches.
var Streams = []Stream{
	{"read", "checksum of a[i]", 1, 0, 0, true},
	{"read4", "checksum of a[i], in four streams", 1, 0, 0, false},
	{"write", "a[i] = s", 0, 1, streamScalar, true},
	{"write_nt", "a[i] = s, non-temporal", 0, 1, streamScalar, false},
	{"copy", "c[i] = a[i]", 1, 1, 0, true},
	{"copy_nt", "c[i] = a[i], non-temporal", 1, 1, 0, false},
	{"copy_nt4", "c[i] = a[i], non-temporal, in four streams", 1, 1, 0, true},
	{"scale", "b[i] = s c[i]", 1, 1, streamScalar, false},
	{"add", "c[i] = a[i] + b[i]", 2, 1, 1, false},
	{"triad", "a[i] = b[i] + s c[i]", 2, 1, streamScalar, true},
	{"triad_nt", "a[i] = b[i] + s c[i], non-temporal", 2, 1, streamScalar, true},
}

// Arrays is the number of arrays that the kernel touches.
func (s Stream) Arrays() int64 { return int64(s.Reads + s.Writes) }

// StreamParams is the factor of the kernel, and whether its output is a checksum
// for each thread instead of an array. Each thread works on its own Part of the
// arrays.
type StreamParams struct {
	Scalar   float64
	Checksum bool
	Passes   int64 // over the arrays in one execution
	Traffic  int64 // bytes of the arrays that one execution moves
}

// passBytes is the least that a thread moves over one array in one execution: a
// pass over L1 takes tens of nanoseconds, and would be overhead for the most part.
const passBytes = 1 << 20

// StreamArrays are the arrays over which all kernels of a working set run, of n
// elements each, counted over all threads.
type StreamArrays struct {
	in       [2]*Tensor
	out, sum *Tensor
	threads  int64
	passes   int64
}

// NewStreamArrays gives arrays of n elements for the given number of threads.
func NewStreamArrays(n, threads int64) StreamArrays {
	vector := func(name string, n int64) *Tensor { return &Tensor{Name: name, Dims: []int64{n}} }
	return StreamArrays{
		in:      [2]*Tensor{vector("a", n), vector("b", n)},
		out:     vector("c", n),
		sum:     vector("sum", threads),
		threads: threads,
		passes:  max(1, passBytes*threads/max(n*schema.FP64.Bytes(), 1)),
	}
}

// Op is the kernel over the arrays.
func (s Stream) Op(arrays StreamArrays) Op {
	n := arrays.out.Elems()
	op := Op{
		Name:   "stream_" + s.Name,
		In:     arrays.in[:s.Reads],
		Out:    arrays.out,
		Params: StreamParams{s.scalar, s.Writes == 0, arrays.passes, s.Traffic(arrays)},
	}
	if s.Writes == 0 {
		op.Out = arrays.sum
	}
	op.Ref = func(in []ref.Field, p ref.Precision) ref.Field {
		switch {
		case s.Writes == 0:
			return func(i int64) ref.Num {
				lo, hi := Part(n, StreamGrain, i, arrays.threads)
				return ref.Checksum(func(j int64) ref.Num { return in[0](lo + j) }, hi-lo, arrays.passes)(0)
			}
		case s.Reads == 0:
			return ref.Constant(s.scalar, p)
		case s.Reads == 2:
			return ref.Triad(in[0], in[1], s.scalar, p)
		case s.scalar != 0:
			return ref.Scale(in[0], s.scalar, p)
		}
		return ref.Copy(in[0])
	}
	return op
}

// WorkingSet is the bytes of the arrays that the kernel touches.
func (s Stream) WorkingSet(a StreamArrays) int64 {
	return s.Arrays() * a.out.Elems() * schema.FP64.Bytes()
}

// Traffic is the bytes that one execution moves.
func (s Stream) Traffic(a StreamArrays) int64 { return a.passes * s.WorkingSet(a) }

// StreamGrain is the number of elements at multiples of which the arrays are cut:
// one line of 64 bytes in fp64.
const StreamGrain = 8

// Part is the contiguous part [lo, hi) that thread id of `parts` has of n
// elements, cut at multiples of grain.
func Part(n, grain, id, parts int64) (lo, hi int64) {
	blocks := (n + grain - 1) / grain
	lo = blocks * id / parts * grain
	hi = blocks * (id + 1) / parts * grain
	return min(lo, n), min(hi, n)
}

func init() {
	for _, s := range Streams {
		register(Pattern{
			Name:  "stream_" + s.Name,
			Group: "memory",
			Doc:   s.Doc,
			Dims:  []string{"bytes"},
			Shapes: func(schema.Mode) []Shape {
				return []Shape{dims([]string{"bytes"}, 16<<10), dims([]string{"bytes"}, 512<<10), dims([]string{"bytes"}, 512<<20)}
			},
			Chain: func(sh Shape, threads int64) (Chain, error) {
				n := sh.Get("bytes") / s.Arrays() / schema.FP64.Bytes()
				return Chain{s.Op(NewStreamArrays(max(n, 1), threads))}, nil
			},
		})
	}
}
