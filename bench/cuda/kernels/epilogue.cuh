// What becomes of sums before they are stored: in this order, each where it is wanted,
//
//	y = narrow(activation(factor (sum + bias[column]) + residual[row, column]))
//
// and in int8 y = requantize(activation(sum + bias[column])), with scale[column] factor. The sums are
// in registers, eight neighbours of a row at a time; the choices are the same for all threads of a
// launch, so that one kernel serves fused chains and the plain product.
#pragma once
#include "activation.cuh"

#ifdef HWCAL_INT8
typedef float scalar; // what factors are in
#else
typedef acc scalar;
#endif

enum { LINEAR, RELU, GELU, SILU };

template <int W>
__device__ inline void activate(acc (&v)[W], int activation) {
  if (activation == RELU) {
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = relu_of(v[i]);
  }
#ifndef HWCAL_INT8
  if (activation == GELU) {
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = gelu_of(v[i]);
  }
  if (activation == SILU) {
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = silu_of(v[i]);
  }
#endif
}

// Epilogue writes Y[m,n].
struct Epilogue {
  void *y; // elem, or sum
  const acc *bias;       // [n], or null
  const elem *residual;  // [m,n], or null
  const float *scale;    // [n] of int8, or null
  scalar factor;
  int activation;
  int sums; // y holds sums
  int n;
  long long first; // row of Y that is row 0 here

  // W neighbours from a column on, of which those beyond n do not exist.
  template <int W>
  __device__ void operator()(int row, int column, acc (&v)[W]) const {
    if (column >= n) return;
    long long at = (first + row) * n + column;
    if (n % W == 0) {
      if (bias) {
        row_of<acc, W> b = *(const row_of<acc, W> *)(bias + column);
#pragma unroll
        for (int i = 0; i < W; i++) v[i] += b.at[i];
      }
#ifndef HWCAL_INT8
#pragma unroll
      for (int i = 0; i < W; i++) v[i] *= factor;
      if (residual) {
        row_of<elem, W> r = *(const row_of<elem, W> *)(residual + at);
#pragma unroll
        for (int i = 0; i < W; i++) v[i] += widen(r.at[i]);
      }
#endif
      activate(v, activation);
      if (sums) {
        row_of<acc, W> out;
#pragma unroll
        for (int i = 0; i < W; i++) out.at[i] = v[i];
        *(row_of<acc, W> *)((acc *)y + at) = out;
      } else {
        row_of<elem, W> out;
#pragma unroll
        for (int i = 0; i < W; i++) out.at[i] = rounded(v[i], column + i);
        *(row_of<elem, W> *)((elem *)y + at) = out;
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < W; i++) {
      if (column + i >= n) break;
      acc one[1] = {v[i]};
      if (bias) one[0] += bias[column + i];
#ifndef HWCAL_INT8
      one[0] *= factor;
      if (residual) one[0] += widen(residual[at + i]);
#endif
      activate(one, activation);
      if (sums) ((acc *)y)[at + i] = one[0];
      else ((elem *)y)[at + i] = rounded(one[0], column + i);
    }
  }

  __device__ elem rounded(acc v, int column) const {
#ifdef HWCAL_INT8
    float r = rintf((float)v * (scale[column] * factor));
    return (elem)(r < -127.0f ? -127.0f : r > 127.0f ? 127.0f : r);
#else
    return narrow(v);
#endif
  }
};

// EPILOGUE are the parameters of a kernel that has one, epilogue_of gathers them.
#define EPILOGUE                                                                             \
  void *y, const acc *bias, const elem *residual, const float *scale, scalar factor, int activation, int sums
#define EPILOGUE_OF(n, first) Epilogue{y, bias, residual, scale, factor, activation, sums, n, first}
