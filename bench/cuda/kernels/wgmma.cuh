// Matrix products of a warpgroup, four warps, with both operands in shared memory: wgmma of sm_90a.
// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//
// D[64][256] += A[64][k] B[k][256], where a row of A, and a column of B, has 32 bytes: k is 8 in tf32,
// 16 in bf16 and fp16, 32 in int8 and fp8. Lane 4 g + t of warp w holds as d[i], i < 128,
//
//	D[16 w + g + 8 (i / 2 % 2)][8 (i / 4) + 2 t + i % 2]
//
// An operand, which a descriptor tells of, is plain, or swizzled: then it is made of blocks of 8 rows of 128 bytes, each at a multiple of 1024 bytes,
// whose pieces of 16 bytes are permuted: piece p of row r is where p ^ r would be. It lies
//
//	by rows, of A or of the transpose of B: neighbours along k are neighbours in a row of 32 bytes or, swizzled, of 128, of
//	which an instruction takes 32; 8 rows lie `stride` bytes behind the 8 before. Plain rows are 16 bytes long: those
//	of the next 16 bytes lie `leading` bytes behind them;
//	by columns, of B in 16 bits, swizzled: a row of 128 bytes has 64 columns of one k; 8 rows along k lie `stride` bytes
//	behind the 8 before, and 64 columns `leading` bytes behind the 64 before.
#pragma once
#include "device.cuh"

enum Swizzle { PLAIN = 0, SWIZZLED = 1 };

// operand_offset is where byte j of row r of a plain operand lies from its start, if the rows of 16 bytes that are
// neighbours along k lie 128 bytes apart, those 8 rows apart 256 bytes.
__device__ inline int operand_offset(int r, int j) { return r / 8 * 256 + j / 16 * 128 + r % 8 * 16 + j % 16; }

#ifndef HWCAL_EMULATED

// Descriptor tells where an operand lies in units of 16 bytes: from bit 0 its address, from 16 the leading dimension byte offset, from
// 32 the stride dimension byte offset; bits 62 and 63 are the swizzling mode.
struct Descriptor {
  unsigned long long bits;

  __device__ Descriptor(const void *shared, int leading, int stride, Swizzle swizzle) {
    unsigned long long address = __cvta_generic_to_shared(shared);
    bits = (address & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)swizzle << 62;
  }
  // move goes on by so many bytes, a multiple of 16.
  __device__ void move(int bytes) { bits += bytes >> 4; }
};

// operands_written makes what this thread has written to shared memory visible to wgmma. A barrier then
// tells the others.
__device__ inline void operands_written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// wgmma_fence comes before the first wgmma after the registers of D were touched.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// wgmma_commit makes a group of what was begun since the last.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// wgmma_wait waits for all groups but the latest N.
template <int N>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// wgmma_done lets nothing that reads D go before a wait for all groups.
__device__ inline void wgmma_done(float (&d)[128]) {
#pragma unroll
  for (int i = 0; i < 128; i++) asm volatile("" : "+f"(d[i])::"memory");
}
__device__ inline void wgmma_done(int (&d)[128]) {
#pragma unroll
  for (int i = 0; i < 128; i++) asm volatile("" : "+r"(d[i])::"memory");
}

#define WGMMA_D4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define WGMMA_D16(c, i) WGMMA_D4(c, i), WGMMA_D4(c, i + 4), WGMMA_D4(c, i + 8), WGMMA_D4(c, i + 12)
#define WGMMA_D64(c, i) WGMMA_D16(c, i), WGMMA_D16(c, i + 16), WGMMA_D16(c, i + 32), WGMMA_D16(c, i + 48)

// Behind the descriptors come whether D is added to, and, by type, the signs of A and B and whether they are
// by columns.
#define WGMMA(name, shape, number, constraint, signs)                                                \
  __device__ inline void name(number (&d)[128], const Descriptor &a, const Descriptor &b) {                \
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
      : "l"(a.bits), "l"(b.bits), "r"(1));                                                           \
  }
// D += A B.
WGMMA(wgmma_bf16, "m64n256k16.f32.bf16.bf16", float, "+f", ", 1, 1, 0, 0")
WGMMA(wgmma_f16, "m64n256k16.f32.f16.f16", float, "+f", ", 1, 1, 0, 0")
WGMMA(wgmma_tf32, "m64n256k8.f32.tf32.tf32", float, "+f", ", 1, 1")
WGMMA(wgmma_e4m3, "m64n256k32.f32.e4m3.e4m3", float, "+f", ", 1, 1")
WGMMA(wgmma_s8, "m64n256k32.s32.s8.s8", int, "+r", "")
// B by columns.
WGMMA(wgmma_bf16_columns, "m64n256k16.f32.bf16.bf16", float, "+f", ", 1, 1, 0, 1")
WGMMA(wgmma_f16_columns, "m64n256k16.f32.f16.f16", float, "+f", ", 1, 1, 0, 1")

#else

// The twins compute at once, each warp its rows of D.

struct Descriptor {
  const char *at;
  int leading, stride;
  Swizzle swizzle;

  Descriptor(const void *shared, int leading, int stride, Swizzle swizzle)
      : at((const char *)shared), leading(leading), stride(stride), swizzle(swizzle) {
    if ((unsigned long long)shared % 16) emulated_fail("wgmma: an operand at no multiple of 16 bytes");
  }
  void move(int bytes) { at += bytes; }

  const char *swizzled(const char *p) const {
    return swizzle == PLAIN ? p : (const char *)((unsigned long long)p ^ ((unsigned long long)p >> 7 & 7) << 4);
  }
  const char *by_rows(int row, int byte) const {
    int in = swizzle == PLAIN ? byte / 16 * leading + row % 8 * 16 + byte % 16 : row % 8 * 128 + byte;
    return swizzled(at + row / 8 * stride + in);
  }
  const char *by_columns(int column, int k) const {
    return swizzled(at + column / 64 * leading + k / 8 * stride + k % 8 * 128 + column % 64 * 2);
  }
};

inline void operands_written() {}
inline void wgmma_fence() {}
inline void wgmma_commit() {}
template <int N>
void wgmma_wait() {}
template <typename number>
void wgmma_done(number (&)[128]) {}

template <typename number>
struct wgmma_lane {
  number *d;
  const Descriptor *a, *b;
};

// value reads an element of so many bytes.
template <typename number, int bytes, number (*value)(const char *), bool columns>
void wgmma(number (&d)[128], const Descriptor &a, const Descriptor &b) {
  emulated_warp<wgmma_lane<number>>({d, &a, &b}, [](wgmma_lane<number> *lanes) {
    constexpr int K = 32 / bytes;
    int first = emulated_now / 32 % 4 * 16;
    const Descriptor &a = *lanes[0].a, &b = *lanes[0].b;
    number left[16][K], right[K];
    for (int row = 0; row < 16; row++)
      for (int k = 0; k < K; k++) left[row][k] = value(a.by_rows(first + row, k * bytes));
    for (int column = 0; column < 256; column++) {
      for (int k = 0; k < K; k++) right[k] = value(columns ? b.by_columns(column, k) : b.by_rows(column, k * bytes));
      for (int row = 0; row < 16; row++) {
        number &sum = lanes[row % 8 * 4 + column % 8 / 2].d[column / 8 * 4 + row / 8 * 2 + column % 2];
        for (int k = 0; k < K; k++) sum += left[row][k] * right[k];
      }
    }
  });
}

inline float wgmma_value_bf16(const char *p) { return __uint_as_float((unsigned)*(const unsigned short *)p << 16); }
inline float wgmma_value_f16(const char *p) { return emulated_half_to_float(*(const unsigned short *)p); }
inline float wgmma_value_tf32(const char *p) { return __uint_as_float(*(const unsigned *)p & ~0x1fffu); }
inline float wgmma_value_e4m3(const char *p) { return emulated_e4m3_to_float(*(const unsigned char *)p); }
inline int wgmma_value_s8(const char *p) { return *(const signed char *)p; }

inline void wgmma_bf16(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 2, wgmma_value_bf16, false>(d, a, b); }
inline void wgmma_f16(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 2, wgmma_value_f16, false>(d, a, b); }
inline void wgmma_tf32(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 4, wgmma_value_tf32, false>(d, a, b); }
inline void wgmma_e4m3(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 1, wgmma_value_e4m3, false>(d, a, b); }
inline void wgmma_s8(int (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<int, 1, wgmma_value_s8, false>(d, a, b); }
inline void wgmma_bf16_columns(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 2, wgmma_value_bf16, true>(d, a, b); }
inline void wgmma_f16_columns(float (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma<float, 2, wgmma_value_f16, true>(d, a, b); }

#endif
