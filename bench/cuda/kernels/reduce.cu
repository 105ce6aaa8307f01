// Reductions over more than a row, in two steps: of parts, and of what these give.
#include "types.cuh"

constexpr acc lowest = (acc)(sizeof(acc) == 8 ? -1.7e308 : -3.4e38);

__device__ inline acc with(acc all, acc v, int maximum) { return !maximum ? all + v : v > all ? v : all; }

constexpr int across = 32, groups = 8; // threads of a block

// over_groups gives what the groups of a block have of the same column, of G * across, together: column threadIdx.x * G + i
// of each is v[i]. out(column, all) has each column once.
template <int G, typename Out>
__device__ inline void over_groups(const acc (&v)[G], int maximum, Out out) {
  __shared__ acc of[groups][G * across];
#pragma unroll
  for (int i = 0; i < G; i++) of[threadIdx.y][i * across + threadIdx.x] = v[i];
  __syncthreads();
  for (int i = threadIdx.y; i < G; i += groups) {
    acc all = of[0][i * across + threadIdx.x];
#pragma unroll
    for (int g = 1; g < groups; g++) all = with(all, of[g][i * across + threadIdx.x], maximum);
    out(threadIdx.x * G + i, all);
  }
}

// over_rows takes each `groups`th row of x from one on before another to `all`, G neighbours.
template <int G, typename Two>
__device__ inline void over_rows(acc (&all)[G], const elem *x, long long row, long long end, int n, Two two) {
#pragma unroll 4
  for (; row < end; row += groups) {
    row_of<elem, G> v = *(const row_of<elem, G> *)(x + row * n);
#pragma unroll
    for (int i = 0; i < G; i++) all[i] = two(all[i], widen(v.at[i]));
  }
}

// partial[part][n] = the sums, or maxima, of the columns of X[m,n] over the rows of a part: blockIdx.y of
// gridDim.y. A thread has G columns, which are neighbours; the groups of a block share the rows.
template <int G>
__device__ inline void reduce_cols_of(acc *partial, const elem *x, long long m, int n, int maximum) {
  int block = blockIdx.x * across * G, column = block + threadIdx.x * G;
  acc all[G];
#pragma unroll
  for (int i = 0; i < G; i++) all[i] = maximum ? lowest : 0;
  long long first = m * blockIdx.y / gridDim.y + threadIdx.y, end = m * (blockIdx.y + 1) / gridDim.y;
  if (column < n && maximum) over_rows<G>(all, x + column, first, end, n, [](acc a, acc b) { return b > a ? b : a; });
  if (column < n && !maximum) over_rows<G>(all, x + column, first, end, n, [](acc a, acc b) { return a + b; });
  over_groups<G>(all, maximum, [&](int i, acc v) {
    if (block + i < n) partial[(long long)blockIdx.y * n + block + i] = v;
  });
}

// Columns by 16 bytes of a row, where rows are multiples of that, or by one.
KERNEL __launch_bounds__(across *groups) reduce_cols(acc *partial, const elem *x, long long m, int n, int maximum) {
  reduce_cols_of<16 / sizeof(elem)>(partial, x, m, n, maximum);
}
KERNEL __launch_bounds__(across *groups) reduce_cols_single(acc *partial, const elem *x, long long m, int n, int maximum) {
  reduce_cols_of<1>(partial, x, m, n, maximum);
}

// y[column] = the maximum of partial[parts][n], or factor times the sum.
KERNEL __launch_bounds__(across *groups) finish_cols(elem *y, const acc *partial, int parts, int n, int maximum, acc factor) {
  int block = blockIdx.x * across, column = block + threadIdx.x;
  acc all[1] = {maximum ? lowest : 0};
  if (column < n) {
#pragma unroll 4
    for (int i = threadIdx.y; i < parts; i += groups) all[0] = with(all[0], partial[(long long)i * n + column], maximum);
  }
  over_groups<1>(all, maximum, [&](int i, acc v) {
    if (block + i < n) y[block + i] = narrow(maximum ? v : v * factor);
  });
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

// partial[block] = the sum of (x - t)^2 over the block's vectors, of which a thread has four, all loaded before any is
// waited for.
KERNEL __launch_bounds__(256) squared_error(acc *partial, const elem *x, const elem *t, long long n) {
  constexpr int W = 16 / sizeof(elem), each = 4;
  acc sum = 0;
  long long stride = blockDim.x * W, at = blockIdx.x * each * stride + threadIdx.x * W;
  if (at + (each - 1) * stride + W <= n) {
    vec<elem> a[each], b[each];
#pragma unroll
    for (int u = 0; u < each; u++) {
      a[u] = *(const vec<elem> *)(x + at + u * stride);
      b[u] = *(const vec<elem> *)(t + at + u * stride);
    }
#pragma unroll
    for (int u = 0; u < each; u++)
#pragma unroll
      for (int i = 0; i < W; i++) {
        acc d = widen(a[u].at[i]) - widen(b[u].at[i]);
        sum += d * d;
      }
  } else {
    for (int u = 0; u < each; u++, at += stride)
      for (long long i = at; i < at + W && i < n; i++) {
        acc d = widen(x[i]) - widen(t[i]);
        sum += d * d;
      }
  }
  sum = add_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// y[0] = factor times the sum of partial[parts]; one block.
KERNEL __launch_bounds__(256) finish_sum(elem *y, const acc *partial, int parts, acc factor) {
  acc sum = 0;
#pragma unroll 8
  for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += partial[i];
  sum = add_block(sum);
  if (threadIdx.x == 0) y[0] = narrow(sum * factor);
}
