// Functions of one number that networks put behind their layers.
#pragma once
#include "types.cuh"

__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }

// What the units for special functions give, to an ulp or two: 2^x, and 1 / x, which is 0 beyond 2^126.
#ifdef HWCAL_EMULATED
inline float quick_exp2(float x) { return exp2f(x); }
inline float quick_reciprocal(float x) { return x <= 0x1p126f ? 1 / x : x != x ? x : 0; }
#else
__device__ inline float quick_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float quick_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

#if defined(HWCAL_BF16) || defined(HWCAL_FP16)
// Of what is rounded to 11 bits or less, these are enough.
constexpr float log2e = 1.44269504088896341f;
__device__ inline float exp_of(float x) { return quick_exp2(x * log2e); }
__device__ inline float divided(float x, float y) { return x * quick_reciprocal(y); }
#else
__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }

// divided is x / y of a y that is at least 1, to an ulp. That of the compiler goes apart for numbers near the bounds of a
// float: between its branches the divisions of neighbours wait for each other.
__device__ inline double divided(double x, double y) { return x / y; }
__device__ inline float divided(float x, float y) {
  y = fminf(y, 0x1.fffffep127f); // without infinities, of which the product with 0 is no number
  float r = quick_reciprocal(y), q = x * r;
  return fmaf(r, fmaf(-y, q, x), q);
}
#endif

__device__ inline acc relu_of(acc x) { return x > 0 ? x : 0; }

#ifndef HWCAL_INT8
// x/2 (1 + erf(x / sqrt 2))
#if defined(HWCAL_BF16) || defined(HWCAL_FP16)
// As max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, in which the latter half is p^-16 to 2^-21 of its value: the form is that of
// Abramowitz and Stegun 7.1.28, p the polynomial of least relative error. Beyond 64 it is 0.
__device__ inline float gelu_of(float x) {
  float a = fminf(fabsf(x), 64);
  float p = 1.61486735e-7f;
  p = fmaf(p, a, -1.17126678e-6f);
  p = fmaf(p, a, 8.06781955e-6f);
  p = fmaf(p, a, 5.12031727e-5f);
  p = fmaf(p, a, 3.40226137e-5f);
  p = fmaf(p, a, 3.42815845e-3f);
  p = fmaf(p, a, 2.20758365e-2f);
  p = fmaf(p, a, 5.20749840e-2f);
  p = fmaf(p, a, 1.04427381f);
  p *= p;
  p *= p;
  p *= p;
  p *= p;
  return fmaf(-a, quick_reciprocal(p), x < 0 ? 0 : x);
}
#else
__device__ inline acc gelu_of(acc x) { return x * (acc)0.5 * (1 + erf_of(x * (acc)0.70710678118654752440)); }
#endif

// x/2 (1 + tanh z) = x / (1 + e^-2z) with z = sqrt(2/pi) (x + 0.044715 x^3)
__device__ inline acc gelu_tanh_of(acc x) {
  return divided(x, 1 + exp_of((acc)-1.59576912160573071176 * (x + (acc)0.044715 * x * x * x)));
}

__device__ inline acc sigmoid_of(acc x) { return divided(1, 1 + exp_of(-x)); }

// x / (1 + e^-x)
__device__ inline acc silu_of(acc x) { return divided(x, 1 + exp_of(-x)); }
#endif
