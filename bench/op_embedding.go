package bench

import "hwcal/bench/ref"

// Embedding gathers rows of a table[vocabulary,n] by their indices[m]; no FLOP. It reads as
// many rows as there are indices.
func Embedding(table, indices *Tensor) Op {
	m, n := indices.Elems(), table.Dims[1]
	table.Reads = m * n
	return Op{
		Name: "embedding",
		In:   []*Tensor{table, indices},
		Out:  &Tensor{Name: "embedding", Dims: []int64{m, n}},
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field {
			return ref.Gather(in[0], in[1], n)
		},
	}
}
