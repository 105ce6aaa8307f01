package cpu

import (
	"fmt"
	"strings"
	"testing"

	"hwcal/schema"
)

// Attention within the bounds that hold for measurements too, fused and one by one, on one
// thread and two. With the caches of a real CPU, all keys are in one block; with tiny
// ones, blocks are a tile wide and a step deep.
func TestNarrowAttention(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		if u.dtype == schema.INT8 {
			t.Skip("softmax is no function of integers")
		}
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		mr, nr := int64(u.gemm.mr), int64(u.gemm.nr)
		real, tiny := b.caches, cacheSizes{1, 8 * u.gemm.mr * u.gemm.nr * accBytes, 1}
		for _, c := range []struct {
			pattern string
			caches  cacheSizes
			threads int
			shape   []int64
		}{
			{"QK_T", real, 1, []int64{1, 1, 1, 1}},
			{"QK_T", tiny, 2, []int64{1, 3, mr + 1, 33}},
			{"QK_T_Softmax", real, 2, []int64{1, 1, nr + 3, 35}},
			{"Full_Attention", real, 1, []int64{1, 1, 1, 1}},
			{"Full_Attention", real, 2, []int64{1, 1, nr + 1, 31}},
			{"Full_Attention", tiny, 2, []int64{1, 1, 2*nr + 1, 7}},
			{"Causal_Attention", real, 2, []int64{1, 1, mr + 3, 3*nr - 1, 34}},
			{"Causal_Attention", tiny, 1, []int64{1, 2, 2*mr + 2, 2*mr + 2, nr + 1}},
			{"Grouped_Query_Attention", real, 1, []int64{1, 4, 2, mr - 1, mr + 1, 16}},
			{"Grouped_Query_Attention", tiny, 2, []int64{1, 2, 1, mr + 5, 2*nr + 3, 40}},
		} {
			b.caches = c.caches
			var text []string
			for _, n := range c.shape {
				text = append(text, fmt.Sprint(n))
			}
			verifyIn(t, b, c.pattern, strings.Join(text, "x"), u.dtype, c.threads)
		}
	})
}
