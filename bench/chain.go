package bench

import (
	"strings"

	"hwcal/bench/ref"
	"hwcal/schema"
)

// Tensor is a named array of elements in row-major order.
type Tensor struct {
	Name string
	Dims []int64
	// Param marks what is known before the run, as the weights of a network are:
	// a kernel may pack or fold it once, when it is bound.
	Param bool
	// Sums marks what holds sums: in the type that the case's accumulates in.
	Sums bool
	// Factors marks what multiplies integers and is none itself: it is in fp32.
	Factors bool
	// Causal marks scores [.., Sq, Sk] of queries that see no key behind their own: of
	// row i only the elements up to column i + Sk - Sq have a meaning. The last query
	// sees all keys.
	Causal bool
	// Host marks what is in the memory of the host, where the device reaches it.
	Host bool
	// Reads is the number of elements that an execution reads, of a table of which rows
	// are looked up; 0 for all.
	Reads int64
	Fill  Fill
}

// Elems is the number of elements.
func (t *Tensor) Elems() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Used is the number of elements that have a meaning, or are read.
func (t *Tensor) Used() int64 {
	if t.Reads > 0 {
		return t.Reads
	}
	n := t.Elems()
	if t.Causal {
		sq, sk := t.Dims[len(t.Dims)-2], t.Dims[len(t.Dims)-1]
		n = n / (sq * sk) * (sq*sk - sq*(sq-1)/2)
	}
	return n
}

// Bytes is the size of what is used of it in a case of the type.
func (t *Tensor) Bytes(d schema.DType) int64 { return t.Used() * t.elementBytes(d) }

// Size is what it takes in memory, in bytes, whatever is used of it.
func (t *Tensor) Size(d schema.DType) int64 { return t.Elems() * t.elementBytes(d) }

func (t *Tensor) elementBytes(d schema.DType) int64 {
	switch {
	case t.Fill.Classes() > 0:
		return LabelBytes
	case t.Sums:
		return d.SumBytes()
	case t.Factors:
		return schema.FP32.Bytes()
	}
	return d.Bytes()
}

// approxElems cannot overflow.
func (t *Tensor) approxElems() float64 {
	n := 1.0
	for _, d := range t.Dims {
		n *= float64(d)
	}
	return n
}

// Op is one operation over tensors: data, from which counts and the reference
// follow. The bytes it must move are those of its tensors.
type Op struct {
	Name    string
	In      []*Tensor
	Out     *Tensor
	FLOP    int64
	Padding int64 // FLOP of these on the zeros around an image, which a kernel may leave out
	Params  any   // what the dimensions do not tell, such as Conv2dParams
	// Fold is there if a kernel of the whole chain computes none of it: it becomes part of
	// the parameters of the operation before. It says what the weights of that one may be,
	// so many of each channel, given the inputs of this one.
	Fold func(w ref.Field, filter int64, in []ref.Field, stored ref.Rounding) ref.Field
	// Ref is the meaning of the operation in float64, given its inputs; nil where
	// there is nothing to verify.
	Ref func(in []ref.Field, p ref.Precision) ref.Field
}

// Chain is a sequence of operations, each reading what those before it wrote.
type Chain []Op

// FLOP is the count of the mathematical, unfused definition.
func (c Chain) FLOP() int64 {
	var n int64
	for _, op := range c {
		n += op.FLOP
	}
	return n
}

// PaddingFLOP counts those of the FLOP that multiply padding.
func (c Chain) PaddingFLOP() int64 {
	var n int64
	for _, op := range c {
		n += op.Padding
	}
	return n
}

// FoldedFLOP counts what a kernel of the whole chain need not compute.
func (c Chain) FoldedFLOP() int64 {
	var n int64
	for _, op := range c[1:] {
		if op.Fold != nil {
			n += op.FLOP
		}
	}
	return n
}

// UnfusedBytes counts what the operations read and write one by one.
func (c Chain) UnfusedBytes(d schema.DType) int64 {
	var n int64
	for _, op := range c {
		for _, t := range op.In {
			n += t.Bytes(d)
		}
		if op.Out != nil {
			n += op.Out.Bytes(d)
		}
	}
	return n
}

// FusedBytes counts the chain's own inputs and outputs: what a kernel of the whole
// chain cannot avoid to read and write, and the pixels that a stride passes over.
func (c Chain) FusedBytes(d schema.DType) int64 {
	var n int64
	for _, t := range c.Inputs() {
		n += t.Bytes(d)
	}
	return n + c.WrittenBytes(d)
}

// WrittenBytes counts those of its output.
func (c Chain) WrittenBytes(d schema.DType) int64 {
	if out := c.Output(); out != nil {
		return out.Bytes(d)
	}
	return 0
}

// Inputs are the tensors that the chain reads and does not write.
func (c Chain) Inputs() []*Tensor {
	var in []*Tensor
	seen := map[*Tensor]bool{}
	for _, op := range c {
		for _, t := range op.In {
			if !seen[t] {
				seen[t] = true
				in = append(in, t)
			}
		}
		seen[op.Out] = true
	}
	return in
}

// Output is the tensor that the last operation writes.
func (c Chain) Output() *Tensor { return c[len(c)-1].Out }

// Tensors are all tensors of the chain, inputs first.
func (c Chain) Tensors() []*Tensor {
	all := c.Inputs()
	for _, op := range c {
		if op.Out != nil {
			all = append(all, op.Out)
		}
	}
	return all
}

// Names are those of the operations in order.
func (c Chain) Names() []string {
	names := make([]string, len(c))
	for i, op := range c {
		names[i] = op.Name
	}
	return names
}

// String is the key under which a backend keeps its kernels: "gemm+bias+relu".
func (c Chain) String() string { return strings.Join(c.Names(), "+") }
