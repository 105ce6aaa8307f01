// Functions of one number that networks put behind their layers.
#pragma once
#include "types.cuh"

__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }

// divided is x / y of a y that is at least 1, to an ulp. That of the compiler goes apart for numbers near the bounds of a
// float: between its branches the divisions of neighbours wait for each other.
__device__ inline double divided(double x, double y) { return x / y; }
__device__ inline float divided(float x, float y) {
  float r = __fdividef(1, y), q = x * r; // 0 if y is beyond 2^126
  return y < 0x1p126f ? fmaf(r, fmaf(-y, q, x), q) : q;
}

__device__ inline acc relu_of(acc x) { return x > 0 ? x : 0; }

#ifndef HWCAL_INT8
// x/2 (1 + erf(x / sqrt 2))
__device__ inline acc gelu_of(acc x) { return x * (acc)0.5 * (1 + erf_of(x * (acc)0.70710678118654752440)); }

// x/2 (1 + tanh z) = x / (1 + e^-2z) with z = sqrt(2/pi) (x + 0.044715 x^3)
__device__ inline acc gelu_tanh_of(acc x) {
  return divided(x, 1 + exp_of((acc)-1.59576912160573071176 * (x + (acc)0.044715 * x * x * x)));
}

__device__ inline acc sigmoid_of(acc x) { return 1 / (1 + exp_of(-x)); }

// x / (1 + e^-x)
__device__ inline acc silu_of(acc x) { return divided(x, 1 + exp_of(-x)); }
#endif
