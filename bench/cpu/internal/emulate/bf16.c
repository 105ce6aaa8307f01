//go:build linux && amd64 && cgo

/* AVX512-BF16: a BF16 number is the upper half of a float. */

#include "execute.h"

#include <math.h>

union number {
	uint32_t bits;
	float value;
};

static float high(uint32_t x) { return (union number){.bits = x & 0xFFFF0000}.value; }
static float low(uint32_t x) { return (union number){.bits = x << 16}.value; }

/* vdpbf16ps adds the upper product first, and rounds twice. */
static uint32_t vdpbf16ps(uint32_t d, uint32_t a, uint32_t b) {
	union number sum = {.bits = d};
	sum.value = fmaf(high(a), high(b), sum.value);
	sum.value = fmaf(low(a), low(b), sum.value);
	return sum.bits;
}

/* bf16 rounds a float to the nearest even number. */
static uint16_t bf16(uint32_t x) {
	uint32_t magnitude = x & 0x7FFFFFFF;
	if (magnitude > 0x7F800000)
		return x >> 16 | 0x40; /* quiet NaN */
	if (magnitude < 0x00800000)
		return x >> 16 & 0x8000; /* denormals are zero */
	return (x + 0x7FFF + (x >> 16 & 1)) >> 16;
}

static void vcvtneps2bf16(const struct insn *in, const struct frame *f) {
	union vector a, d;
	unsigned n = in->bytes / 4;
	read_rm(in, f, &a, in->bytes, 4, active(in, f));
	for (unsigned i = 0; i < n; i++)
		d.u16[i] = bf16(a.u32[i]);
	write_reg(in, f, &d, n, 2);
}

/* vcvtne2ps2bf16 reads all memory, whatever the mask says of the results. */
static void vcvtne2ps2bf16(const struct insn *in, const struct frame *f) {
	union vector a, b, d;
	unsigned n = in->bytes / 4;
	vector_read(f, in->vvvv, &a);
	read_rm(in, f, &b, in->bytes, 4, ~(uint64_t)0);
	for (unsigned i = 0; i < n; i++) {
		d.u16[i] = bf16(b.u32[i]);
		d.u16[n + i] = bf16(a.u32[i]);
	}
	write_reg(in, f, &d, 2 * n, 2);
}

bool execute_bf16(const struct insn *in, const struct frame *f) {
	if (in->w)
		return false;
	switch (insn_id(in)) {
	case INSN(EVEX, MAP_0F38, PF3, 0x52): map32(in, f, vdpbf16ps); return true;
	case INSN(EVEX, MAP_0F38, PF3, 0x72): vcvtneps2bf16(in, f); return true;
	case INSN(EVEX, MAP_0F38, PF2, 0x72): vcvtne2ps2bf16(in, f); return true;
	}
	return false;
}
