// Products of up to M rows, Y[m,n] = X[m,k] W[k,n], bound by reading W: every thread reads 16
// bytes of it at a time, and multiplies them with all rows of X on the vector units. Blocks
// have all of a band of columns, or a slice along k of it.
#pragma once
#include "tile.cuh"

constexpr int THREADS = 256;

// Blocks of an SM, as far as registers allow.
#define RESIDENT(M) (M == 1 || sizeof(elem) == 1 ? 2 : 1)

// sums[rows of X][columns of the band] lie in shared memory in `parts` parts, which the block
// adds up. The last block of a band adds the slices, in their order, and stores them; it says
// that it did.
template <int M, int COLUMNS, class Out>
__device__ inline bool finish(acc *sums, int parts, int m, int band, const Slice &s, const Scratch &scratch,
                              const Out &out) {
  constexpr int ALL = M * COLUMNS;
  acc *slices = scratch.partial + (long long)s.tile * s.splits * ALL;
  __syncthreads();
  for (int i = threadIdx.x; i < ALL; i += THREADS) {
    acc v = 0;
    for (int p = 0; p < parts; p++) v += sums[p * ALL + i];
    if (s.splits > 1) slices[s.split * ALL + i] = v;
    else sums[i] = v;
  }
  if (s.splits > 1) {
    if (!last((unsigned char *)sums, scratch.arrived + s.tile, s.splits)) return false;
    for (int i = threadIdx.x; i < ALL; i += THREADS) {
      acc v = 0;
      for (int p = 0; p < s.splits; p++) v += fresh(slices + p * ALL + i);
      sums[i] = v;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < ALL / 8; i += THREADS) {
    int row = i / (COLUMNS / 8), eighth = i % (COLUMNS / 8), of32 = eighth / 4 * 32;
    if (row < m) out(row, band + of32 / Out::OPERANDS, sums + row * COLUMNS + of32, eighth % 4);
  }
  __syncthreads();
  return true;
}

template <bool ALIGNED>
__device__ inline vec<elem> load(const elem *from, int left) {
  if constexpr (ALIGNED) {
    return left > 0 ? *(const vec<elem> *)from : vec<elem>{};
  } else {
    vec<elem> v;
#pragma unroll
    for (int i = 0; i < PIECE; i++) v.at[i] = i < left ? from[i] : elem{};
    return v;
  }
}

#ifndef HWCAL_INT8
constexpr int COLUMNS = 16 * PIECE; // of a band: 256 bytes of a row of W
constexpr int BATCH = 256;          // elements along k for which X is in shared memory

// Threads are 16 across a band, and 16 along k. If there is a second W, every other 16 columns
// are of it.
template <int M, bool ALIGNED, class Out>
__device__ inline bool gemv(unsigned char *shared, const elem *x, int width, const elem *w, const elem *second, int m,
                            int n, int k, const Slice &s, const Scratch &scratch, const Out &out) {
  constexpr int DEEP = 8; // loads in flight
  acc *xs = (acc *)shared; // [BATCH][M]
  int column = threadIdx.x % 16 * PIECE, along = threadIdx.x / 16;
  if (Out::OPERANDS == 2) {
    if (column % 32 >= 16) w = second;
    column = column / 32 * 16 + column % 16;
  }
  column += s.column;
  w += (long long)(s.k + along) * n + column;
  int end = s.k + s.steps * STEP;
  if (end > k) end = k;
  acc sums[M][PIECE] = {};
  for (int k0 = s.k; k0 < end; k0 += BATCH) {
    __syncthreads();
    for (int i = threadIdx.x; i < M * BATCH; i += THREADS) {
      int row = i / BATCH, at = i % BATCH;
      xs[at * M + row] = row < m && k0 + at < end ? widen(x[(long long)row * width + k0 + at]) : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < BATCH / 16; i += DEEP) {
      vec<elem> piece[DEEP];
#pragma unroll
      for (int j = 0; j < DEEP; j++) {
        piece[j] = load<ALIGNED>(w, k0 + along + 16 * (i + j) < end ? n - column : 0);
        w += 16 * (long long)n;
      }
#pragma unroll
      for (int j = 0; j < DEEP; j++)
#pragma unroll
        for (int row = 0; row < M; row++) {
          acc f = xs[(along + 16 * (i + j)) * M + row];
#pragma unroll
          for (int l = 0; l < PIECE; l++) sums[row][l] += f * widen(piece[j].at[l]);
        }
    }
  }
  __syncthreads();
  acc *parts = (acc *)shared; // [8 warps][M][COLUMNS]
#pragma unroll
  for (int row = 0; row < M; row++)
#pragma unroll
    for (int l = 0; l < PIECE; l++) {
      acc v = sums[row][l] + __shfl_xor_sync(~0u, sums[row][l], 16);
      if (threadIdx.x % 32 < 16)
        parts[(threadIdx.x / 32 * M + row) * COLUMNS + threadIdx.x % 16 * PIECE + l] = v;
    }
  return finish<M, COLUMNS>(parts, 8, m, s.column, s, scratch, out);
}
#endif

#ifdef HWCAL_INT8
// dot adds four products of bytes. NVRTC 12.1 declares __dp4a and does not have it.
__device__ inline int dot(int a, int b, int sum) {
#ifdef HWCAL_EMULATED
  return __dp4a(a, b, sum);
#else
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
#endif
}
#endif

__device__ inline void multiply(acc &sum, const vec<elem> &a, const vec<elem> &b) {
#ifdef HWCAL_INT8
  const int *p = (const int *)a.at, *q = (const int *)b.at;
#pragma unroll
  for (int i = 0; i < 4; i++) sum = dot(p[i], q[i], sum);
#else
#pragma unroll
  for (int i = 0; i < PIECE; i++) sum += widen(a.at[i]) * widen(b.at[i]);
#endif
}

constexpr int BAND = 128; // rows of W[n,k]

// Groups of 8 threads have 4 rows of W each, and read 128 bytes of one at a time.
template <int M, bool ALIGNED, class Out>
__device__ inline bool gemv_rows(unsigned char *shared, const elem *x, const elem *w, int m, int n, int k, const Slice &s,
                                 const Scratch &scratch, const Out &out) {
  int in = threadIdx.x % 8, group = threadIdx.x / 8, column = s.column + 4 * group;
  int end = s.k + s.steps * STEP;
  if (end > k) end = k;
  acc sums[M][4] = {};
  for (int at = s.k + in * PIECE; at < end; at += 8 * PIECE) {
    vec<elem> piece[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      piece[j] = load<ALIGNED>(w + (long long)(column + j) * k + at, column + j < n ? end - at : 0);
#pragma unroll
    for (int row = 0; row < M; row++) {
      vec<elem> f = load<ALIGNED>(x + (long long)row * k + at, row < m ? end - at : 0);
#pragma unroll
      for (int j = 0; j < 4; j++) multiply(sums[row][j], f, piece[j]);
    }
  }
  acc *all = (acc *)shared; // [M][BAND]
#pragma unroll
  for (int row = 0; row < M; row++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
      for (int d = 4; d > 0; d /= 2) sums[row][j] += __shfl_xor_sync(~0u, sums[row][j], d);
      if (in == 0) all[row * BAND + 4 * group + j] = sums[row][j];
    }
  return finish<M, BAND>(all, 1, m, s.column, s, scratch, out);
}
