// The element type of a unit: `elem` as it is stored, `acc` in which it is computed, and the
// conversions between them. bf16 and fp16 are kept as bits, so that no header of a
// toolkit is needed. Narrow types round to nearest, ties to even.
#pragma once
#include "device.cuh"

#if defined(HWCAL_FP64)
typedef double elem;
typedef double acc;
__device__ inline acc widen(elem x) { return x; }
__device__ inline elem narrow(acc x) { return x; }
#elif defined(HWCAL_FP32)
typedef float elem;
typedef float acc;
__device__ inline acc widen(elem x) { return x; }
__device__ inline elem narrow(acc x) { return x; }
#elif defined(HWCAL_TF32)
typedef float elem;
typedef float acc;
__device__ inline acc widen(elem x) { return x; }
// What is stored is rounded to tf32: tensor cores drop the low bits of what they read.
__device__ inline elem narrow(acc x) {
  unsigned bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return __uint_as_float((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}
#elif defined(HWCAL_BF16)
struct elem { unsigned short bits; };
typedef float acc;
__device__ inline acc widen(elem x) { return __uint_as_float((unsigned)x.bits << 16); }
#ifdef HWCAL_EMULATED
__device__ inline elem narrow(acc x) {
  unsigned bits = __float_as_uint(x);
  elem e;
  if (x != x) e.bits = (unsigned short)(bits >> 16 | 1u);
  else e.bits = (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  return e;
}
#else
__device__ inline elem narrow(acc x) {
  elem e;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(e.bits) : "f"(x));
  return e;
}
#endif
#elif defined(HWCAL_FP16)
struct elem { unsigned short bits; };
typedef float acc;
#ifdef HWCAL_EMULATED
__device__ inline acc widen(elem x) { return emulated_half_to_float(x.bits); }
__device__ inline elem narrow(acc x) { elem e; e.bits = emulated_float_to_half(x); return e; }
#else
__device__ inline acc widen(elem x) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
}
__device__ inline elem narrow(acc x) {
  elem e;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(e.bits) : "f"(x));
  return e;
}
#endif
#elif defined(HWCAL_INT8)
typedef signed char elem;
typedef int acc;
__device__ inline acc widen(elem x) { return x; }
__device__ inline elem narrow(acc x) { return (elem)(x < -127 ? -127 : x > 127 ? 127 : x); }
#endif

// What sums are stored in: fp32 for the narrower floating types, int32 for int8.
typedef acc sum;

// vec is so many elements that are loaded and stored at once: 16 bytes.
template <typename T>
struct alignas(16) vec {
  static constexpr int size = 16 / sizeof(T);
  T at[16 / sizeof(T)];
};

// row_of are W neighbours of a row, in accesses of up to 16 bytes.
template <typename T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) row_of {
  T at[W];
};
