#include "textflag.h"

// func flushLines(at *byte, lines int)
TEXT ·flushLines(SB), NOSPLIT, $0-16
	MOVD at+0(FP), R0
	MOVD lines+8(FP), R1

line:
	DC   CIVAC, R0
	ADD  $64, R0
	SUBS $1, R1
	BNE  line
	DSB  $11
	RET
