package simd

import (
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A kernel for AVX2 that needs AVX-512 would run where it was written, and end elsewhere
// with an illegal instruction.
func TestCompileRefusesEVEX(t *testing.T) {
	sum := func(vectors int) func(c *build.Context) {
		return func(c *build.Context) {
			c.Function("sum")
			c.SignatureExpr("func(p *float32)")
			p := operand.Mem{Base: c.Load(c.Param("p"), c.GP64())}
			v := make([]reg.VecVirtual, vectors)
			for i := range v {
				v[i] = c.YMM()
				c.VMOVUPS(p.Offset(32*i), v[i])
			}
			for _, x := range v {
				c.VADDPS(x, v[0], v[0])
			}
			c.VMOVUPS(v[0], p)
			c.RET()
		}
	}
	wide := func(c *build.Context) {
		c.Function("wide")
		c.VPXORQ(reg.Y0, reg.Y0, reg.Y0)
		c.RET()
	}
	for _, k := range []struct {
		name string
		body func(*build.Context)
		want string // of the error without AVX-512
	}{
		{"16 registers", sum(16), ""},
		{"17 registers", sum(17), "sum needs AVX-512: VMOVUPS with Y"},
		{"an instruction", wide, "wide needs AVX-512: VPXORQ of AVX512"},
	} {
		if _, err := compile(k.body, true); err != nil {
			t.Errorf("%s for AVX-512: %v", k.name, err)
		}
		got := "" // no error
		if _, err := compile(k.body, false); err != nil {
			got = err.Error()
		}
		if k.want == "" && got != "" || !strings.HasPrefix(got, k.want) {
			t.Errorf("%s for AVX2: %q, want %q", k.name, got, k.want)
		}
	}
}

func TestFilesForEVEX(t *testing.T) {
	for name, want := range map[string]bool{
		"vec_f32_avx2_amd64.s": false, "int8gemm_ukr_6x16_avx_vnni_amd64.s": false, "flush_amd64.s": false,
		"vec_f32_avx512_amd64.s": true, "bf16gemm_ukr_14x32_avx512_bf16_amd64.s": true, "bf16gemm_ukr_32x32_amx_amd64.s": true,
	} {
		if got := evexFile(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
