/* Instructions with a VEX or EVEX prefix, taken apart. */
#pragma once

#include "frame.h"

struct insn {
	/* What tells instructions apart. */
	bool evex;
	unsigned map, pp, w, opcode;

	/* Operands: numbers of registers, but rm may be memory. */
	unsigned reg, vvvv, rm;
	bool memory;
	bool sib;       /* memory with base and index */
	uint64_t base;  /* value of the base register */
	uint64_t index; /* scaled value of the index register */
	int64_t disp;
	bool disp8; /* which EVEX scales by the size of the operand */

	unsigned bytes;    /* length of the vectors */
	unsigned opmask;   /* mask register, 0 for none */
	bool zeroing;      /* masked elements become zero rather than stay */
	bool broadcast;    /* memory holds one element for all */
	unsigned length;   /* of the instruction */
};

/* decode takes the instruction at RIP apart; false if it has no such prefix,
 * which for VEX is that of three bytes. */
bool decode(struct insn *in, const struct frame *f);

/* A number for each instruction, but for W. */
enum { VEX, EVEX };
enum { NP, P66, PF3, PF2 };
enum { MAP_0F38 = 2, MAP5 = 5, MAP6 = 6 };
#define INSN(encoding, map, pp, opcode) ((encoding) << 16 | (map) << 12 | (pp) << 8 | (opcode))

static inline unsigned insn_id(const struct insn *in) {
	return INSN(in->evex ? EVEX : VEX, in->map, in->pp, in->opcode);
}

/* insn_address is that of a memory operand of so many bytes. */
static inline uint64_t insn_address(const struct insn *in, unsigned bytes) {
	int64_t scale = in->evex && in->disp8 ? bytes : 1;
	return in->base + in->index + in->disp * scale;
}
