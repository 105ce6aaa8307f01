// Operations on each element by itself, and a chain of them. In int8 they work on sums.
#include "activation.cuh"

#ifdef HWCAL_INT8
typedef acc item;
__device__ inline acc wide(item x) { return x; }
__device__ inline item narrowed(acc x) { return x; }
#else
typedef elem item;
__device__ inline acc wide(item x) { return widen(x); }
__device__ inline item narrowed(acc x) { return narrow(x); }
#endif

typedef vec<item> items;
constexpr int W = items::size;

// load gives W neighbours, of which only the first n - at exist.
__device__ inline items load(const item *x, long long at, long long n) {
  if (at + W <= n) return *(const items *)(x + at);
  items v = {};
  for (int i = 0; i < W; i++)
    if (at + i < n) v.at[i] = x[at + i];
  return v;
}

__device__ inline void store(item *y, long long at, long long n, items v) {
  if (at + W <= n) {
    *(items *)(y + at) = v;
    return;
  }
  for (int i = 0; i < W; i++)
    if (at + i < n) y[at + i] = v.at[i];
}

// What goes with the elements of x. operand(at) gives that of W of them, some(at, n) that of those before n.

struct nothing {
  struct values {};
  __device__ values operand(long long) const { return {}; }
  __device__ values some(long long, long long) const { return {}; }
};

// A tensor z as large as x.
struct as_many {
  const item *z;
  typedef items values;
  __device__ values operand(long long at) const { return *(const items *)(z + at); }
  __device__ values some(long long at, long long n) const { return load(z, at, n); }
};

// repeated is z[i % period], of which `period` elements exist.
template <typename T>
struct repeated {
  const T *z;
  int period;
  struct values { T at[W]; };
  __device__ values some(long long at, long long) const { return operand(at); }
  __device__ values operand(long long at) const {
    // 64-bit division takes a hundred instructions.
    unsigned i = at < 1ll << 32 ? (unsigned)at % period : (unsigned)(at % period);
    values v;
    if (period % W == 0) {
      constexpr int part = 16 / sizeof(T) < W ? 16 / sizeof(T) : W; // of one access
      struct alignas(part * sizeof(T)) access { T at[part]; };
#pragma unroll
      for (int j = 0; j < W; j += part) {
        access a = *(const access *)(z + i + j);
#pragma unroll
        for (int l = 0; l < part; l++) v.at[j + l] = a.at[l];
      }
      return v;
    }
#pragma unroll
    for (int j = 0; j < W; j++) {
      v.at[j] = z[i];
      if (++i == period) i = 0;
    }
    return v;
  }
};

// map writes y[i] = f(x[i], what goes with it, i). A thread has one vector: with two an H200 moves up to 3% less.
template <typename With, typename F>
__device__ inline void map(item *y, const item *x, long long n, With with, F f) {
  long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * W;
  auto apply = [&](items &v, const typename With::values &z) {
#pragma unroll
    for (int i = 0; i < W; i++) v.at[i] = narrowed(f(wide(v.at[i]), z, i, at + i));
  };
  if (at + W <= n) {
    items v = *(const items *)(x + at);
    apply(v, with.operand(at));
    *(items *)(y + at) = v;
  } else if (at < n) {
    items v = load(x, at, n);
    apply(v, with.some(at, n));
    store(y, at, n, v);
  }
}

// y[i] = x[i] + b[i % period]: a bias of columns, or of the channels that come last, or a mask.
KERNEL add_repeated(item *y, const item *x, const item *b, long long n, int period) {
  map(y, x, n, repeated<item>{b, period}, [](acc v, const repeated<item>::values &b, int i, long long) { return v + wide(b.at[i]); });
}

KERNEL add(item *y, const item *x, const item *z, long long n) {
  map(y, x, n, as_many{z}, [](acc v, const items &z, int i, long long) { return v + wide(z.at[i]); });
}

KERNEL relu(item *y, const item *x, long long n) {
  map(y, x, n, nothing{}, [](acc v, nothing::values, int, long long) { return relu_of(v); });
}

#ifndef HWCAL_INT8

KERNEL mul(elem *y, const elem *x, const elem *z, long long n) {
  map(y, x, n, as_many{z}, [](acc v, const items &z, int i, long long) { return v * wide(z.at[i]); });
}

KERNEL sub(elem *y, const elem *x, const elem *z, long long n) {
  map(y, x, n, as_many{z}, [](acc v, const items &z, int i, long long) { return v - wide(z.at[i]); });
}

KERNEL div(elem *y, const elem *x, const elem *z, long long n) {
  map(y, x, n, as_many{z}, [](acc v, const items &z, int i, long long) { return v / wide(z.at[i]); });
}

#define MAP(name, result)                                                                       \
  KERNEL name(elem *y, const elem *x, long long n) {                                            \
    map(y, x, n, nothing{}, [](acc v, nothing::values, int, long long) { return result; });     \
  }
MAP(gelu, gelu_of(v))
MAP(gelu_tanh, gelu_tanh_of(v))
MAP(silu, silu_of(v))
MAP(sigmoid, sigmoid_of(v))
MAP(tanh_all, tanh_of(v))
MAP(exp_all, exp_of(v))
MAP(copy, v)

KERNEL set(elem *y, long long n, acc value) {
  long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * W;
  items v;
#pragma unroll
  for (int i = 0; i < W; i++) v.at[i] = narrow(value);
  if (at < n) store(y, at, n, v);
}

KERNEL scale(elem *y, const elem *x, long long n, acc factor) {
  map(y, x, n, nothing{}, [=](acc v, nothing::values, int, long long) { return v * factor; });
}

// dropout keeps what has a random number of at least `least`: SplitMix32 by the index of the
// element, as bench/ref has it.
struct dropout_params {
  unsigned seed, least;
  acc factor;
  __device__ acc operator()(acc v, long long index) const {
    unsigned h = seed + ((unsigned)index + 1) * 0x9e3779b9u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h >> 1 < least ? 0 : v * factor;
  }
};

KERNEL dropout(elem *y, const elem *x, long long n, unsigned seed, unsigned least, acc factor) {
  dropout_params drop{seed, least, factor};
  map(y, x, n, nothing{}, [=](acc v, nothing::values, int, long long index) { return drop(v, index); });
}

KERNEL bias_gelu_dropout(elem *y, const elem *x, const elem *b, long long n, int period, unsigned seed, unsigned least, acc factor) {
  dropout_params drop{seed, least, factor};
  map(y, x, n, repeated<elem>{b, period},
      [=](acc v, const repeated<elem>::values &b, int i, long long index) { return drop(gelu_of(v + wide(b.at[i])), index); });
}

// y[i] = x[i] f[i % period].x + f[i % period].y
struct alignas(2 * sizeof(acc)) line { acc factor, summand; };

KERNEL affine_repeated(elem *y, const elem *x, const line *lines, long long n, int period) {
  map(y, x, n, repeated<line>{lines, period},
      [](acc v, const repeated<line>::values &l, int i, long long) { return v * l.at[i].factor + l.at[i].summand; });
}

// The same of rows of n elements, a multiple of W. A thread has W columns of two rows, as their lines are up to four times
// as many bytes.
KERNEL affine_rows(elem *y, const elem *x, const line *lines, long long rows, int n) {
  long long vector = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  int across = n / W;
  long long pair = vector < 1ll << 32 ? (unsigned)vector / across : vector / across, row = 2 * pair;
  if (row >= rows) return;
  int column = (int)(vector - pair * across) * W;
  x += row * n + column, y += row * n + column;
  bool second = row + 1 < rows;
  items v[2] = {*(const items *)x};
  if (second) v[1] = *(const items *)(x + n);
  repeated<line>::values l = repeated<line>{lines, n}.operand(column);
#pragma unroll
  for (int r = 0; r < 2; r++)
#pragma unroll
    for (int i = 0; i < W; i++) v[r].at[i] = narrowed(wide(v[r].at[i]) * l.at[i].factor + l.at[i].summand);
  *(items *)y = v[0];
  if (second) *(items *)(y + n) = v[1];
}

// y = factor x for causal scores: of row i of m only the first i + 1 + n - m elements. A block has a
// row.
KERNEL scale_causal(elem *y, const elem *x, int m, int n, acc factor) {
  long long row = (long long)blockIdx.x * n;
  int used = blockIdx.x % m + 1 + n - m;
  if (n % W == 0) {
    for (int at = threadIdx.x * W; at < used; at += blockDim.x * W) {
      items v = *(const items *)(x + row + at);
#pragma unroll
      for (int i = 0; i < W; i++) v.at[i] = narrow(widen(v.at[i]) * factor);
      *(items *)(y + row + at) = v;
    }
    return;
  }
  for (int at = threadIdx.x; at < used; at += blockDim.x) y[row + at] = narrow(widen(x[row + at]) * factor);
}

#else

// y[i] = x[i] scale[i % period] factor, rounded to nearest, ties to even, and limited to +-127.
// A thread makes 16 bytes.
KERNEL requantize(signed char *y, const int *x, const float *scale, long long n, int period, float factor) {
  constexpr int bytes = 16;
  long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * bytes;
  if (first >= n) return;
  repeated<float> scales{scale, period};
  items v[bytes / W];
#pragma unroll
  for (int u = 0; u < bytes / W; u++) v[u] = load(x, first + u * W, n);
  vec<signed char> out;
#pragma unroll
  for (int u = 0; u < bytes / W; u++) {
    auto s = scales.operand(first + u * W);
#pragma unroll
    for (int i = 0; i < W; i++) {
      float r = rintf((float)v[u].at[i] * (s.at[i] * factor));
      out.at[u * W + i] = (signed char)(r < -127.0f ? -127.0f : r > 127.0f ? 127.0f : r);
    }
  }
  if (first + bytes <= n) {
    *(vec<signed char> *)(y + first) = out;
    return;
  }
  for (int i = 0; i < bytes; i++)
    if (first + i < n) y[first + i] = out.at[i];
}

#endif
