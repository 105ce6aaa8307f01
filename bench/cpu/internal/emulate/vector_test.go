//go:build linux && amd64 && cgo

package emulate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// operands of a vector instruction: the result has n elements.
type operands struct {
	n       int
	d, a, b int // registers; b may be memory
	k       int
	z       bool
	at      int // where memory begins in the state
	one     bool
}

const memory = -1

// operation is a model: element i of the result.
type operation struct {
	in, out int // bytes of the elements in memory and of the result
	nan     func(uint32) bool
	random  func(uint16) uint16 // makes useful numbers of random bits, half of the time
	model   func(i int, d, a, b *vector) uint32
}

func lanes32(o operation, model func(d, a, b uint32) uint32) *operation {
	o.in, o.out = 4, 4
	o.model = func(i int, d, a, b *vector) uint32 { return model(d.u32(i), a.u32(i), b.u32(i)) }
	return &o
}

func clamp(x int64) uint32 { return uint32(int32(max(math.MinInt32, min(math.MaxInt32, x)))) }

func dot4(a, b uint32) (sum int64) {
	for i := range 4 {
		sum += int64(byte(a>>(8*i))) * int64(int8(b>>(8*i)))
	}
	return sum
}

func dot2(a, b uint32) int64 {
	return int64(int16(a))*int64(int16(b)) + int64(int16(a>>16))*int64(int16(b>>16))
}

func nan16BF(x uint32) bool { return x&0x7FFF > 0x7F80 }
func nan16FP(x uint32) bool { return x&0x7FFF > 0x7C00 }
func nan32(x uint32) bool   { return x&0x7FFFFFFF > 0x7F800000 }

// Random bits, as the upper half of a float or as a half, with exponents near 1.
func near1BF16(x uint16) uint16 { return x&0x87FF | 0x3C00 }
func near1FP16(x uint16) uint16 { return x&0x9FFF | 0x2000 }

// halfway makes floats that often lie between two BF16 numbers.
func halfway(x uint16) uint16 {
	if x%4 == 0 {
		return 0x8000
	}
	return near1BF16(x)
}

var (
	vpdpbusd  = lanes32(operation{}, func(d, a, b uint32) uint32 { return d + uint32(dot4(a, b)) })
	vpdpbusds = lanes32(operation{}, func(d, a, b uint32) uint32 { return clamp(int64(int32(d)) + dot4(a, b)) })
	vpdpwssd  = lanes32(operation{}, func(d, a, b uint32) uint32 { return d + uint32(dot2(a, b)) })
	vpdpwssds = lanes32(operation{}, func(d, a, b uint32) uint32 { return clamp(int64(int32(d)) + dot2(a, b)) })

	vdpbf16ps = lanes32(operation{nan: nan32, random: near1BF16}, func(d, a, b uint32) uint32 {
		sum := flushedFMA(fromBF16(uint16(a>>16)), fromBF16(uint16(b>>16)), math.Float32frombits(d))
		return math.Float32bits(flushedFMA(fromBF16(uint16(a)), fromBF16(uint16(b)), sum))
	})
	vcvtneps2bf16 = &operation{4, 2, nan16BF, halfway, func(i int, _, _, b *vector) uint32 {
		return uint32(toBF16(math.Float32frombits(b.u32(i))))
	}}
)

func vcvtne2ps2bf16(n int) *operation {
	return &operation{4, 2, nan16BF, halfway, func(i int, _, a, b *vector) uint32 {
		if i < n/2 {
			return uint32(toBF16(math.Float32frombits(b.u32(i))))
		}
		return uint32(toBF16(math.Float32frombits(a.u32(i - n/2))))
	}}
}

type vectorTest struct {
	name, code string
	op         *operation
	operands
}

var vectorTests = []vectorTest{
	{"vpdpbusd zmm1, zmm2, zmm3", "62 f2 6d 48 50 cb", vpdpbusd, operands{n: 16, d: 1, a: 2, b: 3}},
	{"vpdpbusd zmm9{k3}, zmm17, zmm28", "62 12 75 43 50 cc", vpdpbusd, operands{n: 16, d: 9, a: 17, b: 28, k: 3}},
	{"vpdpbusd zmm20{k2}{z}, zmm2, [rbx+0x80]", "62 e2 6d ca 50 63 02", vpdpbusd, operands{n: 16, d: 20, a: 2, b: memory, k: 2, z: true, at: 0x80}},
	{"vpdpbusd zmm20{k2}, zmm2, [rbx+rcx*4+12]{1to16}", "62 e2 6d 5a 50 64 8b 03", vpdpbusd, operands{n: 16, d: 20, a: 2, b: memory, k: 2, at: 4*index + 12, one: true}},
	{"vpdpbusd ymm20{k2}, ymm2, [rbx+0x20]", "62 e2 6d 2a 50 63 01", vpdpbusd, operands{n: 8, d: 20, a: 2, b: memory, k: 2, at: 0x20}},
	{"vpdpbusd xmm20, xmm2, [rbx+1000]", "62 e2 6d 08 50 a3 e8 03 00 00", vpdpbusd, operands{n: 4, d: 20, a: 2, b: memory, at: 1000}},
	{"vpdpbusd zmm1, zmm2, [rbp+0x40]", "62 f2 6d 48 50 4d 01", vpdpbusd, operands{n: 16, d: 1, a: 2, b: memory, at: 0x40}},
	{"vpdpbusd zmm1, zmm2, [r13+rcx*8]", "62 d2 6d 48 50 4c cd 00", vpdpbusd, operands{n: 16, d: 1, a: 2, b: memory, at: 8 * index}},
	{"vpdpbusd zmm1, zmm2, [r12+0x123]", "62 d2 6d 48 50 8c 24 23 01 00 00", vpdpbusd, operands{n: 16, d: 1, a: 2, b: memory, at: 0x123}},
	{"vpdpbusd ymm9, ymm2, ymm11 (VEX)", "c4 42 6d 50 cb", vpdpbusd, operands{n: 8, d: 9, a: 2, b: 11}},
	{"vpdpbusd ymm9, ymm2, [rbx+0x20] (VEX)", "c4 62 6d 50 4b 20", vpdpbusd, operands{n: 8, d: 9, a: 2, b: memory, at: 0x20}},
	{"vpdpbusd xmm9, xmm2, xmm11 (VEX)", "c4 42 69 50 cb", vpdpbusd, operands{n: 4, d: 9, a: 2, b: 11}},
	{"vpdpbusds zmm1, zmm2, zmm3", "62 f2 6d 48 51 cb", vpdpbusds, operands{n: 16, d: 1, a: 2, b: 3}},
	{"vpdpbusds ymm9, ymm2, ymm11 (VEX)", "c4 42 6d 51 cb", vpdpbusds, operands{n: 8, d: 9, a: 2, b: 11}},
	{"vpdpwssd zmm1, zmm2, zmm3", "62 f2 6d 48 52 cb", vpdpwssd, operands{n: 16, d: 1, a: 2, b: 3}},
	{"vpdpwssd ymm9, ymm2, [rbx+r9] (VEX)", "c4 22 6d 52 0c 0b", vpdpwssd, operands{n: 8, d: 9, a: 2, b: memory, at: r9}},
	{"vpdpwssds zmm1, zmm2, zmm3", "62 f2 6d 48 53 cb", vpdpwssds, operands{n: 16, d: 1, a: 2, b: 3}},
	{"vpdpwssds ymm9, ymm2, ymm11 (VEX)", "c4 42 6d 53 cb", vpdpwssds, operands{n: 8, d: 9, a: 2, b: 11}},

	{"vdpbf16ps zmm1, zmm2, zmm3", "62 f2 6e 48 52 cb", vdpbf16ps, operands{n: 16, d: 1, a: 2, b: 3}},
	{"vdpbf16ps zmm11{k5}{z}, zmm22, zmm30", "62 12 4e c5 52 de", vdpbf16ps, operands{n: 16, d: 11, a: 22, b: 30, k: 5, z: true}},
	{"vdpbf16ps zmm1, zmm2, [rbx+0x40]", "62 f2 6e 48 52 4b 01", vdpbf16ps, operands{n: 16, d: 1, a: 2, b: memory, at: 0x40}},
	{"vdpbf16ps zmm1{k1}, zmm2, [rbx+4]{1to16}", "62 f2 6e 59 52 4b 01", vdpbf16ps, operands{n: 16, d: 1, a: 2, b: memory, k: 1, at: 4, one: true}},
	{"vdpbf16ps xmm1, xmm2, [rbx+4]{1to4}", "62 f2 6e 18 52 4b 01", vdpbf16ps, operands{n: 4, d: 1, a: 2, b: memory, at: 4, one: true}},
	{"vcvtneps2bf16 ymm17, zmm3", "62 e2 7e 48 72 cb", vcvtneps2bf16, operands{n: 16, d: 17, b: 3}},
	{"vcvtneps2bf16 ymm17{k1}, [rbx+0x40]", "62 e2 7e 49 72 4b 01", vcvtneps2bf16, operands{n: 16, d: 17, b: memory, k: 1, at: 0x40}},
	{"vcvtneps2bf16 xmm17{k1}{z}, [rbx+4]{1to8}", "62 e2 7e b9 72 4b 01", vcvtneps2bf16, operands{n: 8, d: 17, b: memory, k: 1, z: true, at: 4, one: true}},
	{"vcvtne2ps2bf16 zmm17, zmm8, zmm3", "62 e2 3f 48 72 cb", vcvtne2ps2bf16(32), operands{n: 32, d: 17, a: 8, b: 3}},
	{"vcvtne2ps2bf16 zmm17{k1}, zmm8, [rbx+0x40]", "62 e2 3f 49 72 4b 01", vcvtne2ps2bf16(32), operands{n: 32, d: 17, a: 8, b: memory, k: 1, at: 0x40}},
	{"vcvtne2ps2bf16 xmm17{k1}{z}, xmm8, [rbx+4]{1to4}", "62 e2 3f 99 72 4b 01", vcvtne2ps2bf16(8), operands{n: 8, d: 17, a: 8, b: memory, k: 1, z: true, at: 4, one: true}},
}

// What the tests load into RCX and R9.
const index, r9 = 0x60, 0x101

func fill(r *rand.Rand, mem []byte, random func(uint16) uint16) {
	for i := 0; i < len(mem); i += 2 {
		x := uint16(r.Uint32())
		if random != nil {
			x = random(x)
		}
		binary.LittleEndian.PutUint16(mem[i:], x)
	}
}

func randomState(r *rand.Rand, random func(uint16) uint16) *state {
	s := &state{index: index, r9: r9}
	for i := range s.z {
		fill(r, s.z[i][:], random)
	}
	for i := range s.k {
		s.k[i] = r.Uint64()
	}
	fill(r, s.mem[:], random)
	return s
}

// apply performs the operation on s. Where the model and the result of the CPU
// are both NaN, which one does not matter.
func (op *operation) apply(o operands, s, result *state) {
	b := new(vector)
	switch {
	case o.b != memory:
		*b = s.z[o.b]
	case o.one:
		for i := 0; i < len(b); i += op.in {
			copy(b[i:], s.mem[o.at:][:op.in])
		}
	default:
		copy(b[:], s.mem[o.at:])
	}
	var out vector
	old := s.z[o.d]
	for i := range o.n {
		var x uint32
		switch {
		case o.k == 0 || s.k[o.k]>>i&1 != 0:
			x = op.model(i, &old, &s.z[o.a], b)
		case o.z:
		case op.out == 2:
			x = uint32(old.u16(i))
		default:
			x = old.u32(i)
		}
		if op.out == 2 {
			if y := uint32(result.z[o.d].u16(i)); op.nan != nil && op.nan(x) && op.nan(y) {
				x = y
			}
			binary.LittleEndian.PutUint16(out[2*i:], uint16(x))
		} else {
			if y := result.z[o.d].u32(i); op.nan != nil && op.nan(x) && op.nan(y) {
				x = y
			}
			binary.LittleEndian.PutUint32(out[4*i:], x)
		}
	}
	s.z[o.d] = out
}

func TestVectors(t *testing.T) { testVectors(t, vectorTests) }

func testVectors(t *testing.T, tests []vectorTest) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			prog := assemble(t, test.code)
			for i := range 100 {
				random := test.op.random
				if i%2 == 0 {
					random = nil
				}
				got := randomState(r, random)
				want := *got
				prog.run(got)
				old := want.z[test.d]
				test.op.apply(test.operands, &want, got)
				if *got != want {
					t.Fatalf("round %d: destination %x\nbecame %x\nwant   %x", i, old, got.z[test.d], want.z[test.d])
				}
			}
		})
	}
}
