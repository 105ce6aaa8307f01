// Reductions over more than a row, in two steps: of parts, and of what these give.
#include "types.cuh"

constexpr acc lowest = (acc)(sizeof(acc) == 8 ? -1.7e308 : -3.4e38);

// partial[part][n] = the sums, or maxima, of the columns of X[m,n] over the rows of a part: blockIdx.y of
// gridDim.y. A thread has a column of 32; the 8 groups of a block share the rows.
KERNEL __launch_bounds__(256) reduce_cols(acc *partial, const elem *x, long long m, int n, int maximum) {
  __shared__ acc groups[8][32];
  int column = blockIdx.x * 32 + threadIdx.x;
  acc all = maximum ? lowest : 0;
  long long first = m * blockIdx.y / gridDim.y, end = m * (blockIdx.y + 1) / gridDim.y;
  if (column < n) {
#pragma unroll 4
    for (long long row = first + threadIdx.y; row < end; row += 8) {
      acc v = widen(x[row * n + column]);
      all = !maximum ? all + v : v > all ? v : all;
    }
  }
  groups[threadIdx.y][threadIdx.x] = all;
  __syncthreads();
  if (threadIdx.y > 0 || column >= n) return;
  for (int i = 1; i < 8; i++) {
    acc v = groups[i][threadIdx.x];
    all = !maximum ? all + v : v > all ? v : all;
  }
  partial[(long long)blockIdx.y * n + column] = all;
}

// y[column] = the maximum of partial[parts][n], or factor times the sum.
KERNEL finish_cols(elem *y, const acc *partial, int parts, int n, int maximum, acc factor) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  acc all = partial[column];
  for (int i = 1; i < parts; i++) {
    acc v = partial[(long long)i * n + column];
    all = !maximum ? all + v : v > all ? v : all;
  }
  y[column] = narrow(maximum ? all : all * factor);
}

// add_block adds up over the 256 threads of a block, for the first.
__device__ inline acc add_block(acc v) {
  __shared__ acc warps[8];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(~0u, v, lanes);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = warps[0];
  for (int i = 1; i < 8; i++) v += warps[i];
  return v;
}

// partial[block] = the sum of (x - t)^2 over the block's vectors.
KERNEL __launch_bounds__(256) squared_error(acc *partial, const elem *x, const elem *t, long long n) {
  constexpr int W = 16 / sizeof(elem);
  acc sum = 0;
  long long stride = (long long)gridDim.x * blockDim.x * W;
#pragma unroll 2
  for (long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * W; at < n; at += stride) {
    if (at + W <= n) {
      vec<elem> a = *(const vec<elem> *)(x + at), b = *(const vec<elem> *)(t + at);
#pragma unroll
      for (int i = 0; i < W; i++) {
        acc d = widen(a.at[i]) - widen(b.at[i]);
        sum += d * d;
      }
    } else {
      for (long long i = at; i < n; i++) {
        acc d = widen(x[i]) - widen(t[i]);
        sum += d * d;
      }
    }
  }
  sum = add_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// y[0] = factor times the sum of partial[parts]; one block.
KERNEL __launch_bounds__(256) finish_sum(elem *y, const acc *partial, int parts, acc factor) {
  acc sum = 0;
  for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += partial[i];
  sum = add_block(sum);
  if (threadIdx.x == 0) y[0] = narrow(sum * factor);
}
