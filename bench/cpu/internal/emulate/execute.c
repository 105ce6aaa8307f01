//go:build linux && amd64 && cgo

#include "execute.h"

#include <string.h>

bool execute(const struct insn *in, const struct frame *f) {
	/* Of a register, the bit of the broadcast sets the rounding. */
	if (in->broadcast && !in->memory)
		return false;
	return execute_tile(in) || execute_vnni(in, f) || execute_bf16(in, f) || execute_fp16(in, f);
}

uint64_t active(const struct insn *in, const struct frame *f) {
	return in->opmask ? mask_register(f, in->opmask) : ~(uint64_t)0;
}

void read_rm(const struct insn *in, const struct frame *f, union vector *v,
             unsigned bytes, unsigned element, uint64_t mask) {
	if (!in->memory) {
		vector_read(f, in->rm, v);
		return;
	}
	const uint8_t *from = (const uint8_t *)insn_address(in, in->broadcast ? element : bytes);
	unsigned step = in->broadcast ? 0 : element;
	memset(v, 0, sizeof *v);
	for (unsigned i = 0; i < bytes / element; i++) {
		if (mask >> i & 1)
			memcpy(v->u8 + element * i, from + step * i, element);
	}
}

void map32(const struct insn *in, const struct frame *f, lane32 *calculate) {
	union vector d, a, b;
	vector_read(f, in->reg, &d);
	vector_read(f, in->vvvv, &a);
	read_rm(in, f, &b, in->bytes, 4, active(in, f));
	for (unsigned i = 0; i < in->bytes / 4; i++)
		d.u32[i] = calculate(d.u32[i], a.u32[i], b.u32[i]);
	write_reg(in, f, &d, in->bytes / 4, 4);
}

void map16(const struct insn *in, const struct frame *f, lane16 *calculate) {
	union vector d, a, b;
	vector_read(f, in->reg, &d);
	vector_read(f, in->vvvv, &a);
	read_rm(in, f, &b, in->bytes, 2, active(in, f));
	for (unsigned i = 0; i < in->bytes / 2; i++)
		d.u16[i] = calculate(d.u16[i], a.u16[i], b.u16[i]);
	write_reg(in, f, &d, in->bytes / 2, 2);
}

void write_reg(const struct insn *in, const struct frame *f, const union vector *v,
               unsigned n, unsigned element) {
	union vector d;
	if (in->zeroing)
		memset(&d, 0, sizeof d);
	else
		vector_read(f, in->reg, &d);
	uint64_t mask = active(in, f);
	for (unsigned i = 0; i < n; i++) {
		if (mask >> i & 1)
			memcpy(d.u8 + element * i, v->u8 + element * i, element);
	}
	vector_write(f, in->reg, &d, n * element);
}
