//go:build linux && amd64 && cgo

#include "frame.h"

#include <cpuid.h>
#include <string.h>

/* Components of the XSAVE area by their bit in XSTATE_BV. */
enum { SSE = 1, AVX = 2, OPMASK = 5, ZMM_HIGH256 = 6, ZMM16_31 = 7 };

static const uint64_t vector_components =
	1 << SSE | 1 << AVX | 1 << OPMASK | 1 << ZMM_HIGH256 | 1 << ZMM16_31;

/* Where the legacy area holds XMM0, and what the kernel left in its reserved
 * bytes; the XSAVE header follows the area. */
enum { XMM0 = 160, SW_RESERVED = 464, XSAVE_HEADER = 512 };

/* The layout is that of the CPU; it does not change while the process runs. */
static struct { unsigned offset, size; } component[ZMM16_31 + 1];

__attribute__((constructor)) static void find_components(void) {
	component[SSE].offset = XMM0;
	component[SSE].size = 16 * 16;
	for (unsigned i = AVX; i <= ZMM16_31; i++) {
		unsigned c, d;
		__get_cpuid_count(0xD, i, &component[i].size, &component[i].offset, &c, &d);
	}
}

bool frame_open(struct frame *f, ucontext_t *uc) {
	f->general = uc->uc_mcontext.gregs;
	f->xsave = (uint8_t *)uc->uc_mcontext.fpregs;
	if (!f->xsave)
		return false;

	/* struct _fpx_sw_bytes of <asm/sigcontext.h>, which collides with <ucontext.h>. */
	const uint32_t fp_xstate_magic1 = 0x46505853;
	struct { uint32_t magic1, extended_size; uint64_t xfeatures; } saved;
	memcpy(&saved, f->xsave + SW_RESERVED, sizeof saved);
	if (saved.magic1 != fp_xstate_magic1 || (saved.xfeatures & vector_components) != vector_components)
		return false;

	/* XSAVE does not write components that are in their initial state, all zero. */
	uint64_t xstate_bv;
	memcpy(&xstate_bv, f->xsave + XSAVE_HEADER, sizeof xstate_bv);
	for (unsigned i = SSE; i <= ZMM16_31; i++) {
		if ((vector_components & ~xstate_bv) >> i & 1)
			memset(f->xsave + component[i].offset, 0, component[i].size);
	}
	xstate_bv |= vector_components;
	memcpy(f->xsave + XSAVE_HEADER, &xstate_bv, sizeof xstate_bv);
	return true;
}

greg_t *general_register(const struct frame *f, unsigned number) {
	static const int order[16] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	return &f->general[order[number]];
}

uint64_t mask_register(const struct frame *f, unsigned number) {
	uint64_t mask;
	memcpy(&mask, f->xsave + component[OPMASK].offset + 8 * number, sizeof mask);
	return mask;
}

/* part is one part of a vector register: registers 0 to 15 lie in three of them. */
static uint8_t *part(const struct frame *f, unsigned which, unsigned number, unsigned size) {
	return f->xsave + component[which].offset + size * number;
}

void vector_read(const struct frame *f, unsigned number, union vector *v) {
	if (number >= 16) {
		memcpy(v->u8, part(f, ZMM16_31, number - 16, 64), 64);
		return;
	}
	memcpy(v->u8, part(f, SSE, number, 16), 16);
	memcpy(v->u8 + 16, part(f, AVX, number, 16), 16);
	memcpy(v->u8 + 32, part(f, ZMM_HIGH256, number, 32), 32);
}

void vector_write(const struct frame *f, unsigned number, const union vector *v, unsigned bytes) {
	union vector w = {{0}};
	memcpy(w.u8, v->u8, bytes);
	if (number >= 16) {
		memcpy(part(f, ZMM16_31, number - 16, 64), w.u8, 64);
		return;
	}
	memcpy(part(f, SSE, number, 16), w.u8, 16);
	memcpy(part(f, AVX, number, 16), w.u8 + 16, 16);
	memcpy(part(f, ZMM_HIGH256, number, 32), w.u8 + 32, 32);
}
