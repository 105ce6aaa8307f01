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
	const uint8_t *start = (const uint8_t *)f->general[REG_RIP];
	const uint8_t *p = start;
	memset(in, 0, sizeof *in);

	unsigned high_reg = 0, high_vvvv = 0;
	unsigned r, x, b;
	switch (*p++) {
	case 0xC4:
		r = inverted(p[0], 7), x = inverted(p[0], 6), b = inverted(p[0], 5);
		in->map = p[0] & 31;
		in->w = p[1] >> 7;
		in->bytes = 16 << (p[1] >> 2 & 1);
		break;
	case 0x62:
		in->evex = true;
		r = inverted(p[0], 7), x = inverted(p[0], 6), b = inverted(p[0], 5);
		high_reg = inverted(p[0], 4);
		in->map = p[0] & 7;
		in->w = p[1] >> 7;
		in->zeroing = p[2] >> 7;
		in->bytes = 16 << (p[2] >> 5 & 3);
		in->broadcast = p[2] >> 4 & 1;
		high_vvvv = inverted(p[2], 3);
		in->opmask = p[2] & 7;
		if ((p[0] & 8) || !(p[1] & 4) || in->bytes > 64 || (in->zeroing && !in->opmask))
			return false;
		break;
	default:
		return false;
	}
	in->vvvv = high_vvvv << 4 | (~p[1] >> 3 & 15);
	in->pp = p[1] & 3;
	p += in->evex ? 3 : 2;
	in->opcode = *p++;

	uint8_t modrm = *p++;
	in->reg = high_reg << 4 | r << 3 | (modrm >> 3 & 7);
	in->memory = modrm >> 6 != 3;
	if (in->memory)
		p = decode_memory(in, f, p, modrm >> 6, modrm & 7, x, b);
	else
		in->rm = (in->evex ? x << 4 : 0) | b << 3 | (modrm & 7);
	in->length = p - start;
	return true;
}
