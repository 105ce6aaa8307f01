// Functions of one number that networks put behind their layers.
#pragma once
#include "types.cuh"

__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }

__device__ inline acc relu_of(acc x) { return x > 0 ? x : 0; }

#ifndef HWCAL_INT8
// x/2 (1 + erf(x / sqrt 2))
__device__ inline acc gelu_of(acc x) { return x * (acc)0.5 * (1 + erf_of(x * (acc)0.70710678118654752440)); }

// x / (1 + e^-x)
__device__ inline acc silu_of(acc x) { return x / (1 + exp_of(-x)); }
#endif
