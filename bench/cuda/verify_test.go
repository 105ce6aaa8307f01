package cuda

import (
	"fmt"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// verifyKernels compares the kernels of chains, fused and one by one, with the float64 reference in
// each of the types.
func verifyKernels(t *testing.T, b *Backend, dtypes []schema.DType, chains ...bench.Chain) {
	t.Helper()
	for _, d := range dtypes {
		for _, c := range chains {
			_, err := bench.Verify(b, bench.Case{Chain: c, DType: d, Seed: 7})
			if isUnsupported(err) && b.compiler.Name() != "g++" { // a device of little shared memory
				t.Logf("%s %s, first input %s: %v", c, d, dimsOf(c), err)
			} else if err != nil {
				t.Errorf("%s %s, first input %s: %v", c, d, dimsOf(c), err)
			}
		}
	}
}

// dimsOf the first tensor of a chain.
func dimsOf(c bench.Chain) string {
	t := c.Tensors()[0]
	return fmt.Sprintf("%s%v", t.Name, t.Dims)
}

// verifyUnfused does so with operations that have no kernel together.
func verifyUnfused(t *testing.T, b *Backend, d schema.DType, c bench.Chain) {
	t.Helper()
	name := c.String()
	if _, have := entries[name]; have {
		t.Fatalf("%s has a kernel", name)
	}
	entries[name] = []entry{{provider: own, dtypes: []schema.DType{d}, bind: func(ws *workspace, c bench.Chain) (*kernel, error) {
		var each []bench.Kernel
		for i := range c {
			k, err := ws.Bind(c[i : i+1])
			if err != nil {
				return nil, err
			}
			each = append(each, k)
		}
		return &kernel{name: name, enqueue: func() error {
			for _, k := range each {
				if err := k.(*kernel).enqueue(); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	}}}
	defer delete(entries, name)
	verifyKernels(t, b, []schema.DType{d}, c)
}
