// Kernels of two phases in one launch: blocks take units of work in order, those of the second
// phase wait until what they need of the first is done. As units are taken in order, all of
// the first are with blocks that run and wait for nothing before one of the second is taken:
// it ends for any number of blocks.
#pragma once
#include "tile.cuh"

// Queue counts units taken, blocks that left, and for each group of what the first phase
// writes the units that are done. All are 0 between launches.
struct Queue {
  unsigned *counters;
  int groups;

  __device__ Queue(unsigned *counters, int groups) : counters(counters), groups(groups) {}

  // next is the number of the unit that this block takes.
  __device__ int next(unsigned char *shared) {
    int *unit = (int *)shared;
    __syncthreads();
    if (threadIdx.x == 0) *unit = atomicAdd(counters, 1u);
    __syncthreads();
    int is = *unit;
    __syncthreads();
    return is;
  }
  // done tells that what the block has written of a group can be read.
  __device__ void done(int group) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(counters + 2 + group, 1u);
  }
  // wait waits for n units of a group.
  __device__ void wait(int group, unsigned n) {
    if (threadIdx.x == 0)
      while (fresh(counters + 2 + group) < n) {
      }
    __syncthreads();
    __threadfence();
  }
  // leave ends the part of a block in the launch.
  __device__ void leave(unsigned char *shared) {
    if (!last(shared, counters + 1, gridDim.x)) return;
    if (threadIdx.x == 0) counters[0] = 0;
    for (int i = threadIdx.x; i < groups; i += blockDim.x) counters[2 + i] = 0;
  }
};

__device__ inline float root(float x) { return sqrtf(x); }
__device__ inline double root(double x) { return sqrt(x); }

// sum_of gives all threads of a team, a warp or the block, the sum of what they have.
template <int TEAM>
__device__ inline acc sum_of(acc *shared, acc v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (TEAM == 32) return v;
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
#pragma unroll
  for (int i = 0; i < TEAM / 32; i++) v += shared[i];
  return v;
}

// over_row calls use(v, j) for the neighbours v of a row from j on, 16 bytes of them at a time.
constexpr int NEIGHBOURS = 16 / sizeof(elem);
typedef row_of<elem, NEIGHBOURS> neighbours;

template <int TEAM, typename Use>
__device__ inline void over_row(const elem *h, int n, Use use) {
#pragma unroll 4
  for (int j = threadIdx.x % TEAM * NEIGHBOURS; j < n; j += TEAM * NEIGHBOURS) {
    double2 loaded = load_l2((const double2 *)(h + j));
    use(*(const neighbours *)&loaded, j);
  }
}

// normalise is what a team does for a row: (h - mean) / sqrt(variance + eps) gamma + beta. Rows of h, which the L2 cache
// has, begin at multiples of 16 bytes, and there is something behind n up to the next.
template <int TEAM>
__device__ inline void normalise(acc *shared, const elem *h, const elem *gamma, const elem *beta, acc eps, elem *y, int n) {
  acc sum = 0, squares = 0;
  over_row<TEAM>(h, n, [&](const neighbours &v, int j) {
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++) sum += j + i < n ? widen(v.at[i]) : 0;
  });
  acc mean = sum_of<TEAM>(shared, sum) / n;
  over_row<TEAM>(h, n, [&](const neighbours &v, int j) {
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++) {
      acc d = j + i < n ? widen(v.at[i]) - mean : 0;
      squares += d * d;
    }
  });
  acc r = 1 / root(sum_of<TEAM>(shared, squares) / n + eps);
  auto out = [&](elem x, elem times, elem plus) { return narrow((widen(x) - mean) * r * widen(times) + widen(plus)); };
  over_row<TEAM>(h, n, [&](const neighbours &v, int j) {
    if (n % NEIGHBOURS == 0) {
      neighbours times = *(const neighbours *)(gamma + j), plus = *(const neighbours *)(beta + j), to;
#pragma unroll
      for (int i = 0; i < NEIGHBOURS; i++) to.at[i] = out(v.at[i], times.at[i], plus.at[i]);
      *(neighbours *)(y + j) = to;
    } else {
#pragma unroll
      for (int i = 0; i < NEIGHBOURS; i++)
        if (j + i < n) y[j + i] = out(v.at[i], gamma[j + i], beta[j + i]);
    }
  });
}
