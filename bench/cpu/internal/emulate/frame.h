/* The registers of the interrupted thread, in the frame of the signal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

union vector {
	uint8_t u8[64];
	uint16_t u16[32];
	uint32_t u32[16];
	float f32[16];
};

struct frame {
	greg_t *general; /* indexed by enum of <sys/ucontext.h> */
	uint8_t *xsave;  /* area in the standard format of XSAVE */
};

/* frame_open finds the registers; false if those of AVX-512 are not all there. */
bool frame_open(struct frame *f, ucontext_t *uc);

/* general_register is register 0 to 15 as instructions number them. */
greg_t *general_register(const struct frame *f, unsigned number);

uint64_t mask_register(const struct frame *f, unsigned number);

void vector_read(const struct frame *f, unsigned number, union vector *v);

/* vector_write writes the low bytes of a register and clears those above. */
void vector_write(const struct frame *f, unsigned number, const union vector *v, unsigned bytes);
