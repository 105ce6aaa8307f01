//go:build linux && amd64 && cgo

package emulate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func lanes16(model func(d, a, b float64) uint16) *operation {
	return &operation{2, 2, nan16FP, near1FP16, func(i int, d, a, b *vector) uint32 {
		return uint32(model(fromFP16(d.u16(i)), fromFP16(a.u16(i)), fromFP16(b.u16(i))))
	}}
}

// select16 is the first operand where better says so, or the second.
func select16(better func(a, b float64) bool) *operation {
	return &operation{2, 2, nan16FP, near1FP16, func(i int, _, a, b *vector) uint32 {
		if x := a.u16(i); better(fromFP16(x), fromFP16(b.u16(i))) {
			return uint32(x)
		}
		return uint32(b.u16(i))
	}}
}

var (
	vaddph = lanes16(func(_, a, b float64) uint16 { return fp16FMA(a, 1, b) })
	vsubph = lanes16(func(_, a, b float64) uint16 { return fp16FMA(a, 1, -b) })
	// A zero with the sign of the product changes nothing.
	vmulph = lanes16(func(_, a, b float64) uint16 { return fp16FMA(a, b, math.Copysign(0, a*b)) })
	vminph = select16(func(a, b float64) bool { return a < b })
	vmaxph = select16(func(a, b float64) bool { return a > b })

	vfmadd132ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(d, b, a) })
	vfmadd213ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(a, d, b) })
	vfmadd231ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(a, b, d) })
	vfmsub132ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(d, b, -a) })
	vfmsub213ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(a, d, -b) })
	vfmsub231ph  = lanes16(func(d, a, b float64) uint16 { return fp16FMA(a, b, -d) })
	vfnmadd132ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-d, b, a) })
	vfnmadd213ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-a, d, b) })
	vfnmadd231ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-a, b, d) })
	vfnmsub132ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-d, b, -a) })
	vfnmsub213ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-a, d, -b) })
	vfnmsub231ph = lanes16(func(d, a, b float64) uint16 { return fp16FMA(-a, b, -d) })

	vcvtph2psx = &operation{2, 4, nan32, nil, func(i int, _, _, b *vector) uint32 {
		return math.Float32bits(float32(fromFP16(b.u16(i))))
	}}
	vcvtps2phx = &operation{4, 2, nan16FP, near1BF16, func(i int, _, _, b *vector) uint32 {
		x := float64(math.Float32frombits(b.u32(i)))
		return uint32(fp16FMA(x, 1, math.Copysign(0, x)))
	}}
	// Of vmovsh, elements other than the first are those of the first operand.
	vmovsh = &operation{2, 2, nil, nil, func(i int, _, a, b *vector) uint32 {
		if i == 0 {
			return uint32(b.u16(i))
		}
		return uint32(a.u16(i))
	}}
)

var fp16Tests = []vectorTest{
	{"vaddph zmm17{k1}, zmm8, zmm3", "62 e5 3c 49 58 cb", vaddph, operands{n: 32, d: 17, a: 8, b: 3, k: 1}},
	{"vaddph zmm17{k1}{z}, zmm8, [rbx+6]{1to32}", "62 e5 3c d9 58 4b 03", vaddph, operands{n: 32, d: 17, a: 8, b: memory, k: 1, z: true, at: 6, one: true}},
	{"vsubph zmm17, zmm8, [rbx+0x40]", "62 e5 3c 48 5c 4b 01", vsubph, operands{n: 32, d: 17, a: 8, b: memory, at: 0x40}},
	{"vmulph ymm17{k1}, ymm8, ymm3", "62 e5 3c 29 59 cb", vmulph, operands{n: 16, d: 17, a: 8, b: 3, k: 1}},
	{"vminph zmm17{k1}, zmm8, zmm3", "62 e5 3c 49 5d cb", vminph, operands{n: 32, d: 17, a: 8, b: 3, k: 1}},
	{"vmaxph xmm17, xmm8, xmm3", "62 e5 3c 08 5f cb", vmaxph, operands{n: 8, d: 17, a: 8, b: 3}},

	{"vfmadd132ph zmm17{k1}, zmm8, zmm3", "62 e6 3d 49 98 cb", vfmadd132ph, operands{n: 32, d: 17, a: 8, b: 3, k: 1}},
	{"vfmadd213ph zmm17{k1}{z}, zmm8, [rbx+6]{1to32}", "62 e6 3d d9 a8 4b 03", vfmadd213ph, operands{n: 32, d: 17, a: 8, b: memory, k: 1, z: true, at: 6, one: true}},
	{"vfmadd231ph zmm17, zmm8, [rbx+rcx*4+0x40]", "62 e6 3d 48 b8 4c 8b 01", vfmadd231ph, operands{n: 32, d: 17, a: 8, b: memory, at: 4*index + 0x40}},
	{"vfmsub132ph zmm17, zmm8, zmm3", "62 e6 3d 48 9a cb", vfmsub132ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfmsub213ph zmm17, zmm8, zmm3", "62 e6 3d 48 aa cb", vfmsub213ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfmsub231ph zmm17, zmm8, zmm3", "62 e6 3d 48 ba cb", vfmsub231ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmadd132ph zmm17, zmm8, zmm3", "62 e6 3d 48 9c cb", vfnmadd132ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmadd213ph zmm17, zmm8, zmm3", "62 e6 3d 48 ac cb", vfnmadd213ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmadd231ph zmm17, zmm8, zmm3", "62 e6 3d 48 bc cb", vfnmadd231ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmsub132ph zmm17, zmm8, zmm3", "62 e6 3d 48 9e cb", vfnmsub132ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmsub213ph zmm17, zmm8, zmm3", "62 e6 3d 48 ae cb", vfnmsub213ph, operands{n: 32, d: 17, a: 8, b: 3}},
	{"vfnmsub231ph zmm17, zmm8, zmm3", "62 e6 3d 48 be cb", vfnmsub231ph, operands{n: 32, d: 17, a: 8, b: 3}},

	{"vcvtph2psx zmm17{k1}, ymm3", "62 e6 7d 49 13 cb", vcvtph2psx, operands{n: 16, d: 17, b: 3, k: 1}},
	{"vcvtph2psx zmm17, [rbx+0x20]", "62 e6 7d 48 13 4b 01", vcvtph2psx, operands{n: 16, d: 17, b: memory, at: 0x20}},
	{"vcvtph2psx ymm17{k1}{z}, [rbx+6]{1to8}", "62 e6 7d b9 13 4b 03", vcvtph2psx, operands{n: 8, d: 17, b: memory, k: 1, z: true, at: 6, one: true}},
	{"vcvtps2phx ymm17{k1}, zmm3", "62 e5 7d 49 1d cb", vcvtps2phx, operands{n: 16, d: 17, b: 3, k: 1}},
	{"vcvtps2phx ymm17, [rbx+0x40]", "62 e5 7d 48 1d 4b 01", vcvtps2phx, operands{n: 16, d: 17, b: memory, at: 0x40}},
	{"vcvtps2phx ymm17{k1}{z}, [rbx+4]{1to16}", "62 e5 7d d9 1d 4b 01", vcvtps2phx, operands{n: 16, d: 17, b: memory, k: 1, z: true, at: 4, one: true}},

	{"vmovsh xmm17, xmm8, xmm3", "62 e5 3e 08 10 cb", vmovsh, operands{n: 8, d: 17, a: 8, b: 3}},
}

func TestFP16(t *testing.T) { testVectors(t, fp16Tests) }

// What moves one half, with the change to the state.
func TestFP16Moves(t *testing.T) {
	first := func(v *vector, x uint16) { // and nothing behind
		clear(v[:])
		binary.LittleEndian.PutUint16(v[:], x)
	}
	for _, test := range []struct {
		name, code string
		model      func(s *state)
	}{
		{"vmovsh xmm17, [rbx+6]", "62 e5 7e 08 10 4b 03", func(s *state) {
			first(&s.z[17], binary.LittleEndian.Uint16(s.mem[6:]))
		}},
		{"vmovsh xmm17{k1}, [rbx+6]", "62 e5 7e 09 10 4b 03", func(s *state) {
			x := s.z[17].u16(0)
			if s.k[1]&1 != 0 {
				x = binary.LittleEndian.Uint16(s.mem[6:])
			}
			first(&s.z[17], x)
		}},
		{"vmovsh xmm17{k1}{z}, [rbx+6]", "62 e5 7e 89 10 4b 03", func(s *state) {
			x := uint16(0)
			if s.k[1]&1 != 0 {
				x = binary.LittleEndian.Uint16(s.mem[6:])
			}
			first(&s.z[17], x)
		}},
		{"vmovsh xmm17{k1}, xmm8, xmm3", "62 e5 3e 09 10 cb", func(s *state) {
			x := s.z[17].u16(0)
			if s.k[1]&1 != 0 {
				x = s.z[3].u16(0)
			}
			s.z[17] = vector(append(s.z[8][:16:16], make([]byte, 48)...))
			binary.LittleEndian.PutUint16(s.z[17][:], x)
		}},
		{"vmovsh [rbx+6]{k1}, xmm17", "62 e5 7e 09 11 4b 03", func(s *state) {
			if s.k[1]&1 != 0 {
				copy(s.mem[6:], s.z[17][:2])
			}
		}},
		{"vmovsh [rbx+6], xmm17", "62 e5 7e 08 11 4b 03", func(s *state) { copy(s.mem[6:], s.z[17][:2]) }},
		{"vmovw xmm17, r9d", "62 c5 7d 08 6e c9", func(s *state) { first(&s.z[17], uint16(s.r9)) }},
		{"vmovw xmm17, [rbx+6]", "62 e5 7d 08 6e 4b 03", func(s *state) {
			first(&s.z[17], binary.LittleEndian.Uint16(s.mem[6:]))
		}},
		{"vmovw r9d, xmm17", "62 c5 7d 08 7e c9", func(s *state) { s.r9 = uint64(s.z[17].u16(0)) }},
		{"vmovw [rbx+6], xmm17", "62 e5 7d 08 7e 4b 03", func(s *state) { copy(s.mem[6:], s.z[17][:2]) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			prog := assemble(t, test.code)
			for range 10 {
				got := randomState(r, nil)
				got.r9 = r.Uint64()
				want := *got
				test.model(&want)
				prog.run(got)
				if *got != want {
					t.Fatal("wrong result")
				}
			}
		})
	}
}
