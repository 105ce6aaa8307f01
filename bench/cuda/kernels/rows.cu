// Softmax and layer norm of rows, and what is added to a row as it is read.
//
// A row is computed by a group of blockDim.x threads, a part of a warp or whole warps; a block has blockDim.y of
// them. The kernels are for a number E of elements that each thread keeps in registers, or 0: then the row is
// longer, and read again for each pass. They read 16 bytes at once, or, where rows are no multiples
// of that, single elements: G of them.
#include "activation.cuh"

constexpr int W = 16 / sizeof(elem);
constexpr acc lowest = (acc)(sizeof(acc) == 8 ? -1.7e308 : -3.4e38);

__device__ inline float power_of_two(float x) { return sizeof(elem) == 2 ? quick_exp2(x) : exp2f(x); }
__device__ inline double power_of_two(double x) { return exp2(x); }
__device__ inline float logarithm(float x) { return logf(x); }
__device__ inline double logarithm(double x) { return log(x); }
__device__ inline float inverse_root(float x) { return rsqrtf(x); }
__device__ inline double inverse_root(double x) { return rsqrt(x); }

// get and put move G neighbours.
template <int G>
__device__ inline void get(acc (&v)[G], const elem *x) {
  row_of<elem, G> a = *(const row_of<elem, G> *)x;
#pragma unroll
  for (int i = 0; i < G; i++) v[i] = widen(a.at[i]);
}

template <int G>
__device__ inline void put(elem *y, const acc (&v)[G]) {
  row_of<elem, G> a;
#pragma unroll
  for (int i = 0; i < G; i++) a.at[i] = narrow(v[i]);
  *(row_of<elem, G> *)y = a;
}

// add_group and max_group give the sum and the maximum over the threads of a group. All threads of
// the block come here.
template <typename Two>
__device__ inline acc over_group(acc v, Two two) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    if (lanes < blockDim.x) v = two(v, __shfl_xor_sync(~0u, v, lanes));
  int warps = blockDim.x / 32;
  if (warps > 1) {
    __shared__ acc of_warp[32]; // of all groups of the block
    int first = threadIdx.y * warps;
    __syncthreads(); // until all have read what was there before
    if (threadIdx.x % 32 == 0) of_warp[first + threadIdx.x / 32] = v;
    __syncthreads();
    v = of_warp[first];
    for (int i = 1; i < warps; i++) v = two(v, of_warp[first + i]);
  }
  return v;
}
__device__ inline acc add_group(acc v) {
  return over_group(v, [](acc a, acc b) { return a + b; });
}
__device__ inline acc max_group(acc v) {
  return over_group(v, [](acc a, acc b) { return a > b ? a : b; });
}

// source is what a row of n elements is read from: x, to which z is added if there is one. What lies behind `used` counts
// as the lowest number.
struct source {
  const elem *x, *z;
  int n, used;

  template <int G>
  __device__ void cover(acc (&v)[G], int j) const {
#pragma unroll
    for (int i = 0; i < G; i++)
      if (j + i >= used) v[i] = lowest;
  }
};

// Row is the thread's part of a row. All is loaded before any of it is waited for.
template <int E, int G>
struct Row {
  int n;
  acc kept[E / G][G];

  __device__ Row(source s) : n(s.used) {
    add<true>(s.x);
    if (s.z) add<false>(s.z);
    if (s.used < s.n) each([&](acc (&v)[G], int j) { s.cover(v, j); });
  }

  template <bool first>
  __device__ void add(const elem *x) {
    row_of<elem, G> raw[E / G];
#pragma unroll
    for (int k = 0; k < E / G; k++) {
      int j = (k * blockDim.x + threadIdx.x) * G;
      if (j < n) raw[k] = *(const row_of<elem, G> *)(x + j);
    }
#pragma unroll
    for (int k = 0; k < E / G; k++)
#pragma unroll
      for (int i = 0; i < G; i++) kept[k][i] = first ? widen(raw[k].at[i]) : kept[k][i] + widen(raw[k].at[i]);
  }

  // f(v, j) sees each G elements, which it may change.
  template <typename F>
  __device__ void each(F f) {
#pragma unroll
    for (int k = 0; k < E / G; k++) {
      int j = (k * blockDim.x + threadIdx.x) * G;
      if (j < n) f(kept[k], j);
    }
  }
};

// Of a row that is not kept, changes are lost.
template <int G>
struct Row<0, G> {
  source s;

  __device__ Row(source s) : s(s) {}

  template <typename F>
  __device__ void each(F f) {
    for (int j = threadIdx.x * G; j < s.used; j += blockDim.x * G) {
      acc v[G];
      get(v, s.x + j);
      if (s.z) {
        acc z[G];
        get(z, s.z + j);
#pragma unroll
        for (int i = 0; i < G; i++) v[i] += z[i];
      }
      if (s.used < s.n) s.cover(v, j);
      f(v, j);
    }
  }
};

// softmax writes y[j] = exp(x[j] - max) / sum. Of a row of which less is used than there is, what
// lies behind is not written but to fill a vector.
template <int E, int G>
__device__ inline void softmax(elem *y, source s) {
  constexpr acc log2e = 1.4426950408889634;
  Row<E, G> row(s);
  acc largest = lowest;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) largest = v[i] > largest ? v[i] : largest;
  });
  acc base = max_group(largest) * log2e, sum = 0;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) sum += v[i] = power_of_two(v[i] * log2e - base);
  });
  acc factor = 1 / add_group(sum);
  row.each([&](acc (&v)[G], int j) {
#pragma unroll
    for (int i = 0; i < G; i++) v[i] = (E == 0 ? power_of_two(v[i] * log2e - base) : v[i]) * factor;
    put(y + j, v);
  });
}

// layernorm writes y[j] = (x[j] - mean) / sqrt(variance + eps) gamma[j] + beta[j].
template <int E, int G>
__device__ inline void layernorm(elem *y, const elem *gamma, const elem *beta, acc eps, source s) {
  Row<E, G> row(s);
  acc sum = 0;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) sum += v[i];
  });
  acc mean = add_group(sum) / s.n, squares = 0;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) squares += (v[i] - mean) * (v[i] - mean);
  });
  acc r = inverse_root(add_group(squares) / s.n + eps);
  row.each([&](acc (&v)[G], int j) {
    acc g[G], b[G];
    get(g, gamma + j);
    get(b, beta + j);
#pragma unroll
    for (int i = 0; i < G; i++) v[i] = (v[i] - mean) * r * g[i] + b[i];
    put(y + j, v);
  });
}

// rmsnorm writes y[j] = x[j] / sqrt(mean of x^2 + eps) gamma[j].
template <int E, int G>
__device__ inline void rmsnorm(elem *y, const elem *gamma, acc eps, source s) {
  Row<E, G> row(s);
  acc squares = 0;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) squares += v[i] * v[i];
  });
  acc r = inverse_root(add_group(squares) / s.n + eps);
  row.each([&](acc (&v)[G], int j) {
    acc g[G];
    get(g, gamma + j);
#pragma unroll
    for (int i = 0; i < G; i++) v[i] *= r * g[i];
    put(y + j, v);
  });
}

// cross_entropy gives log(sum of e^x) - picked.
template <int E, int G>
__device__ inline acc cross_entropy(acc picked, source s) {
  constexpr acc log2e = 1.4426950408889634;
  Row<E, G> row(s);
  acc largest = lowest, sum = 0;
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) largest = v[i] > largest ? v[i] : largest;
  });
  largest = max_group(largest);
  row.each([&](acc (&v)[G], int) {
#pragma unroll
    for (int i = 0; i < G; i++) sum += power_of_two((v[i] - largest) * log2e);
  });
  return largest + logarithm(add_group(sum)) - picked;
}

// reduced gives the maximum, or factor times the sum.
template <int E, int G>
__device__ inline acc reduced(int maximum, acc factor, source s) {
  Row<E, G> row(s);
  acc all = maximum ? lowest : 0;
  if (maximum)
    row.each([&](acc (&v)[G], int) {
#pragma unroll
      for (int i = 0; i < G; i++) all = v[i] > all ? v[i] : all;
    });
  else
    row.each([&](acc (&v)[G], int) {
#pragma unroll
      for (int i = 0; i < G; i++) all += v[i];
    });
  return maximum ? max_group(all) : add_group(all) * factor;
}

// The row of a thread's group. Groups behind the last row compute it once more, as all threads are
// needed at barriers.
__device__ inline long long group_row(long long rows) {
  long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
  return row < rows ? row : rows - 1;
}

// softmax of x[rows][n], to which mask[period][n] is added if there is one. Where m is not 0, the scores
// are causal: of row i of m only the first i + 1 + n - m are used.
#define SOFTMAX(name, threads, E, G)                                                                            \
  KERNEL __launch_bounds__(threads, 1024 / threads) softmax_##name(elem *y, const elem *x, const elem *mask, long long rows, \
                                                      int n, int period, int m) {                               \
    long long row = group_row(rows);                                                                            \
    int used = m ? (int)(row % m) + 1 + n - m : n;                                                              \
    softmax<E, G>(y + row * n, {x + row * n, mask ? mask + row % period * n : mask, n, used});                  \
  }

// layernorm of x[rows][n], to which z of the same size is added if there is one.
#define LAYERNORM(name, threads, E, G)                                                                            \
  KERNEL __launch_bounds__(threads, 1024 / threads) layernorm_##name(elem *y, const elem *x, const elem *z, const elem *gamma, \
                                                        const elem *beta, long long rows, int n, acc eps) {       \
    long long row = group_row(rows);                                                                              \
    layernorm<E, G>(y + row * n, gamma, beta, eps, {x + row * n, z ? z + row * n : z, n, n});                     \
  }

#define RMSNORM(name, threads, E, G)                                                                             \
  KERNEL __launch_bounds__(threads, 1024 / threads) rmsnorm_##name(elem *y, const elem *x, const elem *gamma, long long rows, \
                                                      int n, acc eps) {                                          \
    long long row = group_row(rows);                                                                             \
    rmsnorm<E, G>(y + row * n, gamma, eps, {x + row * n, nullptr, n, n});                                        \
  }

// y[row] = the loss of x[rows][n] for the classes labels[rows].
#define CROSS_ENTROPY(name, threads, E, G)                                                             \
  KERNEL __launch_bounds__(threads, 1024 / threads) cross_entropy_##name(elem *y, const elem *x, const int *labels, \
                                                            long long rows, int n) {                   \
    long long row = group_row(rows);                                                                   \
    x += row * n;                                                                                      \
    acc loss = cross_entropy<E, G>(widen(x[labels[row]]), {x, nullptr, n, n});                         \
    if (threadIdx.x == 0) y[row] = narrow(loss);                                                       \
  }

// y[row] = the maximum of x[rows][n], or factor times the sum.
#define REDUCE(name, threads, E, G)                                                                      \
  KERNEL __launch_bounds__(threads, 1024 / threads) reduce_rows_##name(elem *y, const elem *x, long long rows, int n, \
                                                          int maximum, acc factor) {                     \
    long long row = group_row(rows);                                                                     \
    acc all = reduced<E, G>(maximum, factor, {x + row * n, nullptr, n, n});                              \
    if (threadIdx.x == 0) y[row] = narrow(all);                                                          \
  }

// The sizes, with the most threads of a block, the elements that a thread keeps, and how many of them are neighbours, as
// rowsKernel of bind_rows.go chooses them. A thread has 64 registers: more leave the memory idle, as fewer rows wait for it
// at once.
#define SIZES(KIND)                \
  KIND(one, 128, W, W)             \
  KIND(two, 128, 2 * W, W)         \
  KIND(four, 512, 4 * W, W)        \
  KIND(long, 1024, 0, W)           \
  KIND(single, 512, 16, 1)         \
  KIND(long_single, 1024, 0, 1)
SIZES(SOFTMAX)
SIZES(LAYERNORM)
SIZES(RMSNORM)
SIZES(CROSS_ENTROPY)
SIZES(REDUCE)
