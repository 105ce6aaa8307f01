package cpu

import (
	"slices"
	"strings"
)

// neonOperations are those whose kernels are NEON; the others are portable.
var neonOperations = []string{
	"add", "sub", "mul", "div", "bias", "mask", "relu", "scale", "set", "channel_bias", "batchnorm",
	"exp", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh",
	"softmax", "causal_softmax", "layernorm", "rmsnorm", "mse", "cross_entropy", "global_average_pool",
	"reduce_sum_rows", "reduce_mean_rows", "reduce_max_rows", "reduce_sum_cols", "reduce_mean_cols", "reduce_max_cols",
}

// vecISA is the family of the kernel of a chain of element-wise operations, as its name tells it.
func vecISA(isa ISA, chain string) ISA {
	for operation := range strings.SplitSeq(chain, "+") {
		if !slices.Contains(neonOperations, operation) {
			return Portable
		}
	}
	return isa
}

// vecAssembly is the table of an instruction set, if it has one.
func vecAssembly[T float](isa ISA) (vecKernels[T], bool) {
	k := vecPortable[T]()
	if isa != NEON {
		return k, false
	}
	var maps, rows any
	switch any(T(0)).(type) {
	case float32:
		maps, rows = neonMapsF32, neonRowsF32
	case float64:
		maps, rows = neonMapsF64, neonRowsF64
	}
	m := maps.(neonMaps[T])
	k.relu, k.scale, k.affine, k.set, k.max, k.maxFar = m.relu, m.scale, m.affine, m.set, m.max, m.max
	k.add, k.addFar, k.addRelu, k.sub, k.mul, k.div = m.add, m.add, m.addRelu, m.sub, m.mul, m.div
	k.exp, k.erf, k.tanh, k.gelu, k.geluTanh, k.silu, k.sigmoid = m.exp, m.erf, m.tanh, m.gelu, m.geluTanh, m.silu, m.sigmoid
	k.addGelu, k.addSilu, k.siluMul = m.addGelu, m.addSilu, m.siluMul
	k.addGeluDropout = addGeluThenDropout(k.addGelu, k.dropout)
	k.maxTaps = maxTapsByRows(k.copy, m.max)
	k.affineRows = func(dst, src, a, b *T, ldd, lds, rows, n int, nt nontemporal) {
		for i := range rows {
			m.affine(at(dst, i*ldd), at(src, i*lds), nil, n, n, n, 1, n, *at(a, i), *at(b, i), nt)
		}
	}
	rows.(neonRows[T]).addTo(&k)
	return k, true
}

// neonMaps are the maps of one element type. Stores past the caches are none of theirs.
type neonMaps[T float] struct {
	relu, scale, affine, set, add, addRelu, sub, mul, div, max mapKernel[T, T]
	exp, erf, tanh, gelu, geluTanh, silu, sigmoid              mapKernel[T, T]
	addGelu, addSilu, siluMul                                  mapKernel[T, T]
}
