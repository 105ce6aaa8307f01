package main

import (
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// kernel is one STREAM loop: a[i] = f(b[i], c[i]), or the checksum of a.
type kernel struct {
	name    string
	tensors int    // a; a and b; a, b and c
	store   string // "", "regular", "nt"
	ahead   ahead
}

// ahead is how a kernel fetches what it will read, and write by way of the caches.
type ahead string

const (
	hardware ahead = ""      // does it
	near     ahead = "Ahead" // into L1
	far      ahead = "Far"   // into L2, and waits for what it loads: see simd.FarDistance
)

// distance of what is fetched, in bytes. On Sapphire Rapids, from DRAM, 256 to 1024 bytes are as good near, and
// twice that is worse.
var distance = map[ahead]int{near: 512, far: simd.FarDistance}

// fetches says whether there is anything that a kernel can fetch ahead.
func (k kernel) fetches() bool { return k.tensors > 1 || k.store != "nt" }

var kernels = []kernel{
	{name: "Read", tensors: 1},
	{name: "Write", tensors: 1, store: "regular"},
	{name: "Copy", tensors: 2, store: "regular"},
	{name: "Scale", tensors: 2, store: "regular"},
	{name: "Add", tensors: 3, store: "regular"},
	{name: "Triad", tensors: 3, store: "regular"},
	{name: "WriteNT", tensors: 1, store: "nt"},
	{name: "CopyNT", tensors: 2, store: "nt"},
	{name: "TriadNT", tensors: 3, store: "nt"},
}

// Registers of all loops.
var (
	pointers = []reg.Register{reg.RDI, reg.RSI, reg.RDX} // at the next elements of a, b, c
	params   = []string{"a", "b", "c"}
	reps     = reg.R8
	left     = reg.CX.As64() // elements
	blocks   = reg.RAX
)

// unroll is the number of vectors of each tensor in one turn of the main loop.
const unroll = 16

// sums is the number of accumulators of read, and as many vectors that it loads follow. The checksum is an
// exclusive or of bits, as one instruction of AVX-512 does it with two vectors that were loaded: with an
// instruction for each, Sapphire Rapids reads 320 GB/s from L1 instead of 420.
const sums = 8

// exclusive is the truth table of the exclusive or of three.
const exclusive = 0x96

// The last two vector registers hold s in all lanes and a single element.
func factor(isa simd.ISA) reg.VecPhysical { return isa.V(isa.Regs - 1) }
func single(isa simd.ISA) reg.VecPhysical { return isa.V(isa.Regs - 2) }

func streams(ctx *build.Context, isa simd.ISA) {
	for _, k := range kernels {
		emit(ctx, isa, k)
		for _, k.ahead = range []ahead{near, far} {
			if k.fetches() {
				emit(ctx, isa, k)
			}
		}
	}
	copyStreams(ctx, isa)
	readStreams(ctx, isa)
}

// emit writes one kernel: reps times over n elements. Each pass peels elements
// until a is aligned to a vector, then runs the unrolled loop, single vectors
// and single elements.
func emit(ctx *build.Context, isa simd.ISA, k kernel) {
	signature := "func(reps, n int, a, b, c *float64, s float64)"
	if k.store == "" {
		signature = "func(reps, n int, a *float64) (sum uint64)"
	} else if k.tensors < 3 {
		signature = "func(reps, n int, " + strings.Join(params[:k.tensors], ", ") + " *float64, s float64)"
	}
	function(ctx, "stream"+k.name+string(k.ahead)+suffix(isa), signature)
	ctx.Load(ctx.Param("reps"), reps)
	if k.store == "" {
		for i := range sums {
			ctx.VXORPD(isa.V(i), isa.V(i), isa.V(i))
		}
	} else {
		scalar, err := ctx.Param("s").Resolve()
		if err != nil {
			panic(err)
		}
		ctx.VBROADCASTSD(scalar.Addr, factor(isa))
	}

	ctx.Label("pass")
	if k.store == "" {
		for i := range sums {
			ctx.VPSLLQ(operand.U8(1), isa.V(i), isa.V(i))
		}
	}
	ctx.Load(ctx.Param("n"), left)
	for i := range k.tensors {
		ctx.Load(ctx.Param(params[i]), pointers[i])
	}

	ctx.Label("peel")
	ctx.TESTQ(left, left)
	ctx.JLE(operand.LabelRef("done"))
	ctx.TESTQ(operand.U32(isa.Bytes-1), reg.RDI)
	ctx.JZ(operand.LabelRef("aligned"))
	element(ctx, isa, k)
	ctx.JMP(operand.LabelRef("peel"))

	ctx.Label("aligned")
	lanes := isa.Lanes(8)
	ctx.MOVQ(left, blocks)
	ctx.SHRQ(operand.U8(log2(unroll*lanes)), blocks)
	ctx.JZ(operand.LabelRef("vectors"))
	ctx.Label("block")
	for i := range unroll {
		fetch(ctx, isa, k, i)
		at := operand.Mem{Base: reg.RDI, Disp: i * isa.Bytes}
		switch {
		case k.name != "Read" || isa != simd.AVX512:
			vector(ctx, isa, k, i)
		case i%2 == 1: // with the one before
			xorPair(ctx, i/2, at.Offset(-isa.Bytes), at)
		}
		if k.ahead == far && (i+1)*isa.Bytes%(simd.FarLines*64) == 0 {
			ctx.LFENCE()
		}
	}
	advance(ctx, k, unroll*isa.Bytes)
	ctx.DECQ(blocks)
	ctx.JNZ(operand.LabelRef("block"))
	ctx.ANDQ(operand.U32(unroll*lanes-1), left)

	ctx.Label("vectors")
	ctx.SUBQ(operand.U32(lanes), left)
	ctx.JLT(operand.LabelRef("elements"))
	vector(ctx, isa, k, 0)
	advance(ctx, k, isa.Bytes)
	ctx.JMP(operand.LabelRef("vectors"))

	ctx.Label("elements")
	ctx.ADDQ(operand.U32(lanes), left)
	ctx.JZ(operand.LabelRef("done"))
	ctx.Label("element")
	element(ctx, isa, k)
	ctx.JNZ(operand.LabelRef("element"))

	ctx.Label("done")
	ctx.DECQ(reps)
	ctx.JNZ(operand.LabelRef("pass"))
	if k.store == "nt" {
		ctx.SFENCE()
	}
	if k.store == "" {
		reduce(ctx, isa)
	}
	ctx.VZEROUPPER()
	ctx.RET()
}

// fetch fetches the lines of vector i that a kernel reads, and those that it writes by way of the caches: nobody
// else has them, so that they come as its own.
func fetch(ctx *build.Context, isa simd.ISA, k kernel, i int) {
	at := i * isa.Bytes
	if k.ahead == hardware || at%64 != 0 {
		return
	}
	for t, p := range pointers[:k.tensors] {
		m := operand.Mem{Base: p, Disp: at + distance[k.ahead]}
		switch {
		case t == 0 && k.store == "nt":
		case k.ahead == far:
			ctx.PREFETCHT1(m)
		default:
			ctx.PREFETCHT0(m)
		}
	}
}

// vector handles vector i behind the pointers.
func vector(ctx *build.Context, isa simd.ISA, k kernel, i int) {
	at := func(p reg.Register) operand.Mem { return operand.Mem{Base: p, Disp: i * isa.Bytes} }
	s, v := factor(isa), isa.V(i%(isa.Regs/2))
	switch k.name {
	case "Read":
		xor(ctx, isa, at(reg.RDI), isa.V(i%sums))
		return
	case "Write", "WriteNT":
		v = s
	case "Copy", "CopyNT":
		ctx.VMOVUPD(at(reg.RSI), v)
	case "Scale":
		ctx.VMULPD(at(reg.RSI), s, v)
	case "Add":
		ctx.VMOVUPD(at(reg.RSI), v)
		ctx.VADDPD(at(reg.RDX), v, v)
	case "Triad", "TriadNT":
		ctx.VMOVUPD(at(reg.RDX), v)
		ctx.VFMADD213PD(at(reg.RSI), s, v)
	}
	if k.store == "nt" {
		ctx.VMOVNTPD(v, at(reg.RDI))
	} else {
		ctx.VMOVAPD(v, at(reg.RDI))
	}
}

// element handles one element, advances the pointers and counts it; the flags
// are those of the count.
func element(ctx *build.Context, isa simd.ISA, k kernel) {
	at := func(p reg.Register) operand.Mem { return operand.Mem{Base: p} }
	v, s := single(isa).AsX(), factor(isa).AsX()
	switch k.name {
	case "Read":
		// An instruction of a narrower vector would clear the upper lanes of the accumulator.
		ctx.VMOVSD(at(reg.RDI), v)
		xor(ctx, isa, single(isa), isa.V(0))
	case "Write", "WriteNT":
		v = s
	case "Copy", "CopyNT":
		ctx.VMOVSD(at(reg.RSI), v)
	case "Scale":
		ctx.VMULSD(at(reg.RSI), s, v)
	case "Add":
		ctx.VMOVSD(at(reg.RSI), v)
		ctx.VADDSD(at(reg.RDX), v, v)
	case "Triad", "TriadNT":
		ctx.VMOVSD(at(reg.RDX), v)
		ctx.VFMADD213SD(at(reg.RSI), s, v)
	}
	if k.store != "" {
		ctx.VMOVSD(v, at(reg.RDI))
	}
	advance(ctx, k, 8)
	ctx.DECQ(left)
}

func advance(ctx *build.Context, k kernel, bytes int) {
	for _, p := range pointers[:k.tensors] {
		ctx.ADDQ(operand.U32(bytes), p)
	}
}

// xor is v ^= x, a vector or where one is.
func xor(ctx *build.Context, isa simd.ISA, x operand.Op, v reg.VecPhysical) {
	if isa == simd.AVX512 {
		ctx.VPXORQ(x, v, v)
	} else {
		ctx.VPXOR(x, v, v)
	}
}

// xorPair does so with two that are in memory, on accumulator i.
func xorPair(ctx *build.Context, i int, x, y operand.Mem) {
	isa := simd.AVX512
	ctx.VMOVDQU64(x, isa.V(sums+i))
	ctx.VPTERNLOGQ(operand.U8(exclusive), y, isa.V(sums+i), isa.V(i))
}

// reduce makes one checksum of those of the accumulators.
func reduce(ctx *build.Context, isa simd.ISA) {
	for n := sums; n > 1; n /= 2 {
		for i := range n / 2 {
			xor(ctx, isa, isa.V(i+n/2), isa.V(i))
		}
	}
	if isa == simd.AVX512 {
		ctx.VEXTRACTI64X4(operand.U8(1), reg.Z0, reg.Y1)
		ctx.VPXOR(reg.Y1, reg.Y0, reg.Y0)
	}
	ctx.VEXTRACTI128(operand.U8(1), reg.Y0, reg.X1)
	ctx.VPXOR(reg.X1, reg.X0, reg.X0)
	ctx.VPUNPCKHQDQ(reg.X0, reg.X0, reg.X1)
	ctx.VPXOR(reg.X1, reg.X0, reg.X0)
	ctx.MOVQ(reg.X0, reg.RAX)
	ctx.Store(reg.RAX, ctx.ReturnIndex(0))
}

func log2(n int) uint64 {
	var k uint64
	for ; n > 1; n /= 2 {
		k++
	}
	return k
}
