package simd

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A kernel for AVX2 that needs AVX-512 would run where it was written, and end elsewhere
// with an illegal instruction.
func TestCompileRefuses(t *testing.T) {
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
		{"17 registers", sum(17), "sum: VMOVUPS with Y16 needs AVX-512"},
		{"an instruction", wide, "wide: VPXORQ needs AVX512"},
	} {
		if _, err := compile(k.body, avx512Extensions); err != nil {
			t.Errorf("%s for AVX-512: %v", k.name, err)
		}
		got := "" // no error
		if _, err := compile(k.body, avx2Extensions); err != nil {
			got = err.Error()
		}
		if k.want == "" && got != "" || !strings.HasPrefix(got, k.want) {
			t.Errorf("%s for AVX2: %q, want %q", k.name, got, k.want)
		}
	}
}

func TestExtensions(t *testing.T) {
	for name, want := range map[string][3]bool{ // BMI2, AVX512F, AVX512VNNI
		"vec_f32_avx2_amd64.s":                   {true, false, false},
		"int8gemm_ukr_6x16_avx_vnni_amd64.s":     {true, false, false},
		"vec_f32_avx512_amd64.s":                 {true, true, false},
		"bf16gemm_ukr_14x32_avx512_bf16_amd64.s": {true, true, false},
		"bf16gemm_ukr_32x32_amx_amd64.s":         {true, true, false},
		"int8gemm_ukr_14x32_avx512_vnni_amd64.s": {true, true, true},
	} {
		all := extensionsOf(name)
		got := [3]bool{slices.Contains(all, "BMI2"), slices.Contains(all, "AVX512F"), slices.Contains(all, "AVX512VNNI")}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
