// Reductions over more than a row: blocks take parts, and the last of them what these give.
#include "memory.cuh"
#include "types.cuh"

constexpr acc lowest = (acc)(sizeof(acc) == 8 ? -1.7e308 : -3.4e38);

__device__ inline acc with(acc all, acc v, int maximum) { return !maximum ? all + v : v > all ? v : all; }

constexpr int across = 32, groups = 16; // threads of a block

// over_groups gives what the groups of a block have at place i of G of a thread, together: out(i, all) has each once.
template <int G, typename Out>
__device__ inline void over_groups(const acc (&v)[G], int maximum, Out out) {
  __shared__ acc of[groups][G * across];
  __syncthreads(); // until all have read what was there before
#pragma unroll
  for (int i = 0; i < G; i++) of[threadIdx.y][i * across + threadIdx.x] = v[i];
  __syncthreads();
  for (int i = threadIdx.y; i < G; i += groups) {
    acc all = of[0][i * across + threadIdx.x];
#pragma unroll
    for (int g = 1; g < groups; g++) all = with(all, of[g][i * across + threadIdx.x], maximum);
    out(i, all);
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

// y[n] = the maxima of the columns of X[m,n], or factor times their sums. A block has G * across columns, of which a thread
// has G neighbours, over the rows of a part: blockIdx.y of gridDim.y. The groups of a block share these rows.
// partial[parts][n] and arrived[blocks of columns] are for what the parts give.
template <int G>
__device__ inline void reduce_cols_of(acc *partial, unsigned *arrived, elem *y, const elem *x, long long m, int n, int maximum,
                                      acc factor) {
  int block = blockIdx.x * across * G, column = block + threadIdx.x * G, parts = gridDim.y;
  acc all[G];
#pragma unroll
  for (int i = 0; i < G; i++) all[i] = maximum ? lowest : 0;
  long long first = m * blockIdx.y / parts + threadIdx.y, end = m * (blockIdx.y + 1) / parts;
  if (column < n && maximum) over_rows<G>(all, x + column, first, end, n, [](acc a, acc b) { return b > a ? b : a; });
  if (column < n && !maximum) over_rows<G>(all, x + column, first, end, n, [](acc a, acc b) { return a + b; });
  over_groups<G>(all, maximum, [&](int i, acc v) {
    if (column + i < n) partial[(long long)blockIdx.y * n + column + i] = v;
  });

  __shared__ unsigned seen;
  if (!last((unsigned char *)&seen, arrived + blockIdx.x, parts)) return;
#pragma unroll
  for (int i = 0; i < G; i++) all[i] = maximum ? lowest : 0;
  column = block + threadIdx.x; // and each `across` further
#pragma unroll 4
  for (int part = threadIdx.y; part < parts; part += groups)
#pragma unroll
    for (int i = 0; i < G; i++)
      if (column + i * across < n) all[i] = with(all[i], fresh(partial + (long long)part * n + column + i * across), maximum);
  over_groups<G>(all, maximum, [&](int i, acc v) {
    if (column + i * across < n) y[column + i * across] = narrow(maximum ? v : v * factor);
  });
}

// Columns by 16 bytes of a row, where rows are multiples of that, or by one.
KERNEL __launch_bounds__(across *groups, 2) reduce_cols(acc *partial, unsigned *arrived, elem *y, const elem *x, long long m,
                                                        int n, int maximum, acc factor) {
  reduce_cols_of<16 / sizeof(elem)>(partial, arrived, y, x, m, n, maximum, factor);
}
KERNEL __launch_bounds__(across *groups, 2) reduce_cols_single(acc *partial, unsigned *arrived, elem *y, const elem *x,
                                                               long long m, int n, int maximum, acc factor) {
  reduce_cols_of<1>(partial, arrived, y, x, m, n, maximum, factor);
}

// add_block adds up over the 256 threads of a block.
__device__ inline acc add_block(acc v) {
  __shared__ acc warps[8];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(~0u, v, lanes);
  __syncthreads(); // until all have read what was there before
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = warps[0];
  for (int i = 1; i < 8; i++) v += warps[i];
  return v;
}

// y[0] = factor times the sum of (x - t)^2. A block takes 4 vectors a thread at a time, all loaded before any is waited for.
// partial[blocks] and arrived are for what the blocks give.
KERNEL __launch_bounds__(256) squared_error(acc *partial, unsigned *arrived, elem *y, const elem *x, const elem *t, long long n,
                                            acc factor) {
  constexpr int W = 16 / sizeof(elem), each = 4;
  acc sum = 0;
  const long long stride = 256 * W, all = each * stride;
  for (long long block = blockIdx.x * all; block < n; block += gridDim.x * all) {
    long long at = block + threadIdx.x * W;
    if (block + all <= n) {
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
  }
  sum = add_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;

  __shared__ unsigned seen;
  if (!last((unsigned char *)&seen, arrived, gridDim.x)) return;
  sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += fresh(partial + i);
  sum = add_block(sum);
  if (threadIdx.x == 0) y[0] = narrow(sum * factor);
}
