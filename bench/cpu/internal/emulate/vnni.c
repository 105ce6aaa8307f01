//go:build linux && amd64 && cgo

/* AVX512-VNNI and AVX-VNNI: dot products of integers. */

#include "execute.h"

/* bytes multiplies four unsigned bytes by four signed ones: it cannot overflow. */
static int32_t bytes(uint32_t a, uint32_t b) {
	int32_t sum = 0;
	for (int i = 0; i < 32; i += 8)
		sum += (uint8_t)(a >> i) * (int8_t)(b >> i);
	return sum;
}

/* words multiplies two pairs of signed words; twice 2^30 needs a 33rd bit. */
static int64_t words(uint32_t a, uint32_t b) {
	return (int64_t)((int16_t)a * (int16_t)b) + (int16_t)(a >> 16) * (int16_t)(b >> 16);
}

static uint32_t saturate(int64_t x) {
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

static uint32_t vpdpbusd(uint32_t d, uint32_t a, uint32_t b) { return d + bytes(a, b); }
static uint32_t vpdpwssd(uint32_t d, uint32_t a, uint32_t b) { return d + words(a, b); }

static uint32_t vpdpbusds(uint32_t d, uint32_t a, uint32_t b) {
	return saturate((int64_t)(int32_t)d + bytes(a, b));
}

static uint32_t vpdpwssds(uint32_t d, uint32_t a, uint32_t b) {
	return saturate((int32_t)d + words(a, b));
}

bool execute_vnni(const struct insn *in, const struct frame *f) {
	if (in->map != MAP_0F38 || in->pp != P66 || in->w)
		return false;
	switch (in->opcode) {
	case 0x50: map32(in, f, vpdpbusd); return true;
	case 0x51: map32(in, f, vpdpbusds); return true;
	case 0x52: map32(in, f, vpdpwssd); return true;
	case 0x53: map32(in, f, vpdpwssds); return true;
	}
	return false;
}
