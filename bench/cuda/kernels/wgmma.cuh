// Matrix products of a warpgroup, four warps, with both operands in shared memory: wgmma of sm_90a.
// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". The emulation has no twin of these:
// they were compiled, and the descriptors held against the ISA, and run on no device yet.
//
// D[64][256] += A[64][k] B[k][256], where a row of A, and a column of B, has 32 bytes: k is 8 in tf32,
// 16 in bf16 and fp16, 32 in int8 and fp8. Lane 4 g + t of warp w holds as d[i], i < 128,
//
//	D[16 w + g + 8 (i / 2 % 2)][8 (i / 4) + 2 t + i % 2]
#pragma once
#include "device.cuh"

// operand_offset is where byte j of row r of A, or of column r of B, lies from the start of the
// operand: both are K-major and not swizzled, made of matrices of 8 rows of 16 bytes. The two
// that are neighbours along k lie 128 bytes apart, those 8 rows apart 256 bytes.
__device__ inline int operand_offset(int r, int j) { return r / 8 * 256 + j / 16 * 128 + r % 8 * 16 + j % 16; }

// operand_descriptor tells this of an operand at a multiple of 16 bytes: in units of 16 bytes, from
// bit 0 its address, from 16 the leading dimension byte offset, along k, from 32 the stride dimension byte
// offset, along the rows; bits 62 and 63 are 0 for no swizzle.
__device__ inline unsigned long long operand_descriptor(const void *shared) {
  unsigned long long address = __cvta_generic_to_shared(shared);
  return (address & 0x3ffff) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

// operands_written makes what this thread has written to shared memory visible to wgmma. A barrier then
// tells the others.
__device__ inline void operands_written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// wgmma_fence comes before the first wgmma after the registers of D were touched.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// wgmma_commit makes a group of what was begun since the last.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// wgmma_wait waits for all groups.
__device__ inline void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#define WGMMA_D4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define WGMMA_D16(c, i) WGMMA_D4(c, i), WGMMA_D4(c, i + 4), WGMMA_D4(c, i + 8), WGMMA_D4(c, i + 12)
#define WGMMA_D64(c, i) WGMMA_D16(c, i), WGMMA_D16(c, i + 16), WGMMA_D16(c, i + 32), WGMMA_D16(c, i + 48)

// Behind the descriptors come whether D is added to, and, by type, the signs of A and B and whether they are
// transposed.
#define WGMMA(name, shape, number, constraint, signs)                                                \
  __device__ inline void name(number (&d)[128], unsigned long long a, unsigned long long b) {        \
    asm volatile(                                                                                    \
      "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"                                              \
      "wgmma.mma_async.sync.aligned." shape " "                                                      \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                      \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "            \
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "            \
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "            \
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "            \
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "            \
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, " \
      "%128, %129, add" signs ";\n}\n"                                                               \
      : WGMMA_D64(constraint, 0), WGMMA_D64(constraint, 64)                                          \
      : "l"(a), "l"(b), "r"(1));                                                                     \
  }
WGMMA(wgmma_bf16, "m64n256k16.f32.bf16.bf16", float, "+f", ", 1, 1, 0, 0")
WGMMA(wgmma_f16, "m64n256k16.f32.f16.f16", float, "+f", ", 1, 1, 0, 0")
WGMMA(wgmma_tf32, "m64n256k8.f32.tf32.tf32", float, "+f", ", 1, 1")
WGMMA(wgmma_e4m3, "m64n256k32.f32.e4m3.e4m3", float, "+f", ", 1, 1")
WGMMA(wgmma_s8, "m64n256k32.s32.s8.s8", int, "+r", "")
