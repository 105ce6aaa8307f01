//go:build linux && amd64 && cgo

/* AVX512-FP16: IEEE 754 half precision, always with denormals. */

#include "execute.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static double value(uint16_t x) { return _cvtsh_ss(x); }

/* half rounds x + rest to the nearest even half, where rest is below the last
 * bit of x. Rounding in two steps is right if the first is to odd: a float that
 * is not exact has its last bit set, so it is never halfway between halves. */
static uint16_t half(double x, double rest) {
	float f = (float)x;
	if (isfinite(x)) {
		rest += x - f;
		uint32_t bits;
		memcpy(&bits, &f, sizeof bits);
		if (rest != 0 && bits % 2 == 0)
			bits += (rest > 0) == (f > 0) ? 1 : -1;
		memcpy(&f, &bits, sizeof f);
	}
	return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
}

/* sum adds with one rounding; what a double loses of the sum is exact. */
static uint16_t sum(double a, double b) {
	double s = a + b;
	double b_in_s = s - a;
	return half(s, (a - (s - b_in_s)) + (b - b_in_s));
}

static uint16_t vaddph(uint16_t d, uint16_t a, uint16_t b) { (void)d; return sum(value(a), value(b)); }
static uint16_t vsubph(uint16_t d, uint16_t a, uint16_t b) { (void)d; return sum(value(a), -value(b)); }
static uint16_t vmulph(uint16_t d, uint16_t a, uint16_t b) { (void)d; return half(value(a) * value(b), 0); }

/* The second operand is the result for NaN and for two zeros. */
static uint16_t vminph(uint16_t d, uint16_t a, uint16_t b) { (void)d; return value(a) < value(b) ? a : b; }
static uint16_t vmaxph(uint16_t d, uint16_t a, uint16_t b) { (void)d; return value(a) > value(b) ? a : b; }

/* The product of two halves is exact in a double. */
static uint16_t fmadd(uint16_t x, uint16_t y, uint16_t z) { return sum(value(x) * value(y), value(z)); }
static uint16_t fmsub(uint16_t x, uint16_t y, uint16_t z) { return sum(value(x) * value(y), -value(z)); }
static uint16_t fnmadd(uint16_t x, uint16_t y, uint16_t z) { return sum(-value(x) * value(y), value(z)); }
static uint16_t fnmsub(uint16_t x, uint16_t y, uint16_t z) { return sum(-value(x) * value(y), -value(z)); }

/* The digits name the factors, then the summand; 1 is the destination. */
#define ORDERS(name) \
	static uint16_t name##132(uint16_t d, uint16_t a, uint16_t b) { return name(d, b, a); } \
	static uint16_t name##213(uint16_t d, uint16_t a, uint16_t b) { return name(a, d, b); } \
	static uint16_t name##231(uint16_t d, uint16_t a, uint16_t b) { return name(a, b, d); }
ORDERS(fmadd)
ORDERS(fmsub)
ORDERS(fnmadd)
ORDERS(fnmsub)

static bool arithmetic(const struct insn *in, const struct frame *f, lane16 *calculate) {
	map16(in, f, calculate);
	return true;
}

static bool vcvtph2psx(const struct insn *in, const struct frame *f) {
	union vector a, d;
	unsigned n = in->bytes / 4;
	read_rm(in, f, &a, 2 * n, 2, active(in, f));
	for (unsigned i = 0; i < n; i++)
		d.f32[i] = _cvtsh_ss(a.u16[i]);
	write_reg(in, f, &d, n, 4);
	return true;
}

static bool vcvtps2phx(const struct insn *in, const struct frame *f) {
	union vector a, d;
	unsigned n = in->bytes / 4;
	read_rm(in, f, &a, 4 * n, 4, active(in, f));
	for (unsigned i = 0; i < n; i++)
		d.u16[i] = _cvtss_sh(a.f32[i], _MM_FROUND_TO_NEAREST_INT);
	write_reg(in, f, &d, n, 2);
	return true;
}

/* vmovsh_load clears all but one element; between registers, vmovsh takes the
 * others from the first operand. */
static bool vmovsh_load(const struct insn *in, const struct frame *f) {
	union vector d, a, b;
	uint64_t mask = active(in, f) & 1;
	vector_read(f, in->reg, &d);
	read_rm(in, f, &b, 2, 2, mask);
	if (in->memory)
		memset(&a, 0, sizeof a);
	else
		vector_read(f, in->vvvv, &a);
	a.u16[0] = mask ? b.u16[0] : in->zeroing ? 0 : d.u16[0];
	vector_write(f, in->reg, &a, 16);
	return true;
}

static bool vmovsh_store(const struct insn *in, const struct frame *f) {
	union vector a;
	if (!in->memory || in->zeroing)
		return false;
	vector_read(f, in->reg, &a);
	if (active(in, f) & 1)
		memcpy((void *)insn_address(in, 2), a.u16, 2);
	return true;
}

static bool vmovw_load(const struct insn *in, const struct frame *f) {
	union vector d = {{0}};
	if (in->memory)
		memcpy(d.u16, (const void *)insn_address(in, 2), 2);
	else
		d.u16[0] = *general_register(f, in->rm % 16);
	vector_write(f, in->reg, &d, 16);
	return true;
}

static bool vmovw_store(const struct insn *in, const struct frame *f) {
	union vector a;
	vector_read(f, in->reg, &a);
	if (in->memory)
		memcpy((void *)insn_address(in, 2), a.u16, 2);
	else
		*general_register(f, in->rm % 16) = a.u16[0];
	return true;
}

bool execute_fp16(const struct insn *in, const struct frame *f) {
	switch (insn_id(in)) { /* W does not matter to these two */
	case INSN(EVEX, MAP5, P66, 0x6E): return vmovw_load(in, f);
	case INSN(EVEX, MAP5, P66, 0x7E): return vmovw_store(in, f);
	}
	if (in->w)
		return false;
	switch (insn_id(in)) {
	case INSN(EVEX, MAP5, NP, 0x58): return arithmetic(in, f, vaddph);
	case INSN(EVEX, MAP5, NP, 0x59): return arithmetic(in, f, vmulph);
	case INSN(EVEX, MAP5, NP, 0x5C): return arithmetic(in, f, vsubph);
	case INSN(EVEX, MAP5, NP, 0x5D): return arithmetic(in, f, vminph);
	case INSN(EVEX, MAP5, NP, 0x5F): return arithmetic(in, f, vmaxph);

	case INSN(EVEX, MAP6, P66, 0x98): return arithmetic(in, f, fmadd132);
	case INSN(EVEX, MAP6, P66, 0x9A): return arithmetic(in, f, fmsub132);
	case INSN(EVEX, MAP6, P66, 0x9C): return arithmetic(in, f, fnmadd132);
	case INSN(EVEX, MAP6, P66, 0x9E): return arithmetic(in, f, fnmsub132);
	case INSN(EVEX, MAP6, P66, 0xA8): return arithmetic(in, f, fmadd213);
	case INSN(EVEX, MAP6, P66, 0xAA): return arithmetic(in, f, fmsub213);
	case INSN(EVEX, MAP6, P66, 0xAC): return arithmetic(in, f, fnmadd213);
	case INSN(EVEX, MAP6, P66, 0xAE): return arithmetic(in, f, fnmsub213);
	case INSN(EVEX, MAP6, P66, 0xB8): return arithmetic(in, f, fmadd231);
	case INSN(EVEX, MAP6, P66, 0xBA): return arithmetic(in, f, fmsub231);
	case INSN(EVEX, MAP6, P66, 0xBC): return arithmetic(in, f, fnmadd231);
	case INSN(EVEX, MAP6, P66, 0xBE): return arithmetic(in, f, fnmsub231);

	case INSN(EVEX, MAP6, P66, 0x13): return vcvtph2psx(in, f);
	case INSN(EVEX, MAP5, P66, 0x1D): return vcvtps2phx(in, f);

	case INSN(EVEX, MAP5, PF3, 0x10): return vmovsh_load(in, f);
	case INSN(EVEX, MAP5, PF3, 0x11): return vmovsh_store(in, f);
	}
	return false;
}
