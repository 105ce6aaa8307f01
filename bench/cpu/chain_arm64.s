#include "textflag.h"

// The operands are registers, so that no core can fold the links of a chain. The
// counter runs beside it, once in 1024 links.

#define ADD8 \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0; \
	ADD R1, R0, R0;
#define ADD64 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8
#define ADD512 ADD64 ADD64 ADD64 ADD64 ADD64 ADD64 ADD64 ADD64

// func chainAdd(iters int)
TEXT ·chainAdd(SB), NOSPLIT, $0-8
	MOVD iters+0(FP), R2
	MOVD $1, R0
	MOVD $1, R1

links:
	ADD512
	ADD512
	SUBS $1, R2, R2
	BNE  links
	RET

#define EOR8 \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0; \
	EOR R1, R0, R0;
#define EOR64 EOR8 EOR8 EOR8 EOR8 EOR8 EOR8 EOR8 EOR8
#define EOR512 EOR64 EOR64 EOR64 EOR64 EOR64 EOR64 EOR64 EOR64

// func chainXor(iters int)
TEXT ·chainXor(SB), NOSPLIT, $0-8
	MOVD iters+0(FP), R2
	MOVD $1, R0
	MOVD $1, R1

links:
	EOR512
	EOR512
	SUBS $1, R2, R2
	BNE  links
	RET
