//go:build linux && amd64 && cgo

#include "decode.h"

#include <string.h>

/* The prefixes hold most bits inverted, so that they are no valid instruction
 * in the 32-bit mode that came first. */
static unsigned inverted(uint8_t byte, unsigned bit) { return ~byte >> bit & 1; }

/* decode_memory reads SIB byte and displacement. x and b extend the numbers of
 * index and base. Returns the first byte behind, relative to which RIP counts. */
static const uint8_t *decode_memory(struct insn *in, const struct frame *f, const uint8_t *p,
                                    unsigned mod, unsigned rm, unsigned x, unsigned b) {
	unsigned base = rm;
	if (rm == 4) {
		unsigned index = x << 3 | (*p >> 3 & 7);
		in->sib = true;
		if (index != 4)
			in->index = (uint64_t)*general_register(f, index) << (*p >> 6);
		base = *p++ & 7;
	}
	bool no_base = mod == 0 && base == 5;

	if (mod == 1) {
		in->disp8 = true;
		in->disp = (int8_t)*p++;
	} else if (mod == 2 || no_base) {
		int32_t disp;
		memcpy(&disp, p, sizeof disp);
		in->disp = disp;
		p += sizeof disp;
	}

	if (!no_base)
		in->base = *general_register(f, b << 3 | base);
	else if (!in->sib)
		in->base = (uint64_t)p; /* relative to RIP: no instruction here has an immediate */
	return p;
}

bool decode(struct insn *in, const struct frame *f) {
	enum { VEX3_PREFIX = 0xC4, EVEX_PREFIX = 0x62 };
	const uint8_t *start = (const uint8_t *)f->general[REG_RIP];
	const uint8_t *p = start;
	uint8_t prefix = *p++;
	if (prefix != VEX3_PREFIX && prefix != EVEX_PREFIX)
		return false;

	memset(in, 0, sizeof *in);
	in->evex = prefix == EVEX_PREFIX;
	in->w = p[1] >> 7;
	in->pp = p[1] & 3;
	in->vvvv = ~p[1] >> 3 & 15;
	unsigned r = inverted(p[0], 7), x = inverted(p[0], 6), b = inverted(p[0], 5);
	unsigned high_reg = 0, high_rm = 0;
	if (in->evex) {
		high_reg = inverted(p[0], 4);
		high_rm = x; /* a register has no index */
		in->map = p[0] & 7;
		in->vvvv |= inverted(p[2], 3) << 4;
		in->bytes = 16 << (p[2] >> 5 & 3);
		in->opmask = p[2] & 7;
		in->zeroing = p[2] >> 7;
		in->broadcast = p[2] >> 4 & 1;
		if ((p[0] & 8) || !(p[1] & 4) || in->bytes > 64 || (in->zeroing && !in->opmask))
			return false;
		p += 3;
	} else {
		in->map = p[0] & 31;
		in->bytes = 16 << (p[1] >> 2 & 1);
		p += 2;
	}
	in->opcode = *p++;

	uint8_t modrm = *p++;
	in->reg = high_reg << 4 | r << 3 | (modrm >> 3 & 7);
	in->memory = modrm >> 6 != 3;
	if (in->memory)
		p = decode_memory(in, f, p, modrm >> 6, modrm & 7, x, b);
	else
		in->rm = high_rm << 4 | b << 3 | (modrm & 7);
	in->length = p - start;
	return true;
}
