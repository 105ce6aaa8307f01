// Package emulate executes instructions that the CPU lacks, so that kernels for
// AMX, AVX512-VNNI, AVX-VNNI, AVX512-BF16 and AVX512-FP16 are tested on any
// machine with AVX-512. Only tests use it: a test file itself may not use cgo.
//
// A CPU answers an instruction that it does not know with an exception, which
// Linux turns into the signal SIGILL and a frame that holds all registers. The
// handler of this package decodes the instruction, performs it on the frame and
// returns behind it. Instructions that the CPU has never arrive here, and those
// that the package does not know go on to the handler of the Go runtime, as do
// memory faults of emulated instructions, at the address of the instruction.
//
// Emulated are, with all addressing modes but segment overrides:
//
//   - AMX-TILE, AMX-INT8, AMX-BF16 and AMX-FP16 as a whole. Wrong use of the
//     tiles is explained on standard error before the runtime reports SIGILL.
//   - VPDPBUSD, VPDPBUSDS, VPDPWSSD and VPDPWSSDS, in VEX and EVEX encoding.
//   - VDPBF16PS, VCVTNEPS2BF16 and VCVTNE2PS2BF16.
//   - VADDPH, VSUBPH, VMULPH, VMINPH, VMAXPH, all packed VF[N]M{ADD,SUB}PH,
//     VCVTPH2PSX, VCVTPS2PHX, VMOVW and VMOVSH.
//
// EVEX encodings include all vector lengths, masks, and broadcasts from memory,
// but neither embedded rounding nor suppressed exceptions. Rounding is to the
// nearest even number, whatever MXCSR says, and no exception flags are set. The
// sign and payload of a NaN result may differ from those of a CPU, and encodings
// that are reserved for want of an operand may execute.
//
// The tiles belong to the thread: an assembly function that sets them up must
// also release them, which the AMX of a CPU in a Go program needs as well.
package emulate
