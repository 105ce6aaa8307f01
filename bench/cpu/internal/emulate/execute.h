/* Performing instructions. */
#pragma once

#include "decode.h"

/* execute performs an instruction on the frame; false if it does not know it. */
bool execute(const struct insn *in, const struct frame *f);

/* One file for each family; false if the instruction belongs to another. */
bool execute_tile(const struct insn *in); /* has registers of its own */
bool execute_vnni(const struct insn *in, const struct frame *f);
bool execute_bf16(const struct insn *in, const struct frame *f);
bool execute_fp16(const struct insn *in, const struct frame *f);

/* The elements that an instruction works on, as bits. */
uint64_t active(const struct insn *in, const struct frame *f);

/* read_rm reads a register, or those elements of memory that the mask selects,
 * as the others may lie in memory that cannot be read. */
void read_rm(const struct insn *in, const struct frame *f, union vector *v,
             unsigned bytes, unsigned element, uint64_t mask);

/* A function of destination, first and second operand. */
typedef uint32_t lane32(uint32_t d, uint32_t a, uint32_t b);
typedef uint16_t lane16(uint16_t d, uint16_t a, uint16_t b);

/* map32 and map16 calculate all active elements and write the destination. */
void map32(const struct insn *in, const struct frame *f, lane32 *calculate);
void map16(const struct insn *in, const struct frame *f, lane16 *calculate);

/* write_reg writes n elements of so many bytes to the destination as the mask
 * says, and clears the register above. */
void write_reg(const struct insn *in, const struct frame *f, const union vector *v,
               unsigned n, unsigned element);
