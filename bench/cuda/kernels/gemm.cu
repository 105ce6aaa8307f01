// Y[m,n] = X[m,k] W[k,n] by tiles of 128x128 and 64x64; W is [n,k] in int8. "ragged" kernels read
// operands whose rows are no multiple of 16 bytes.
#include "queue.cuh"

#ifdef HWCAL_INT8
constexpr Order ORDER = BY_ROWS;
#else
constexpr Order ORDER = BY_COLUMNS;
#endif

template <int SIDE, bool ALIGNED, Order order>
struct Operand : Columns<SIDE, 2 * SIDE, ALIGNED> {
  __device__ Operand(const elem *w, const Slice &s, int n, int k)
      : Columns<SIDE, 2 * SIDE, ALIGNED>(w, s.column, n, s.k, k) {}
};
template <int SIDE, bool ALIGNED>
struct Operand<SIDE, ALIGNED, BY_ROWS> : Rows<SIDE, 2 * SIDE, ALIGNED> {
  __device__ Operand(const elem *w, const Slice &s, int n, int k)
      : Rows<SIDE, 2 * SIDE, ALIGNED>(w, s.column, n, k, s.k, k) {}
};

// product computes a slice and stores the tile, if it is the last of it; it says so. Rows of X are
// `width` elements apart.
template <int SIDE, bool X_ALIGNED, bool W_ALIGNED>
__device__ inline bool product(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                               const Slice &s, const Scratch &scratch, const Epilogue &e) {
  Tile<SIDE, ORDER> tile;
  Rows<SIDE, 2 * SIDE, X_ALIGNED> rows(x, s.row, m, width, s.k, k);
  Operand<SIDE, W_ALIGNED, ORDER> operand(w, s, n, k);
  tile.multiply(shared, rows, operand, s.steps);
  if (!tile.gather(shared, s, scratch)) return false;
  tile.emit(shared, s.row, s.column, m, Plain{e});
  return true;
}

template <int SIDE, bool ALIGNED>
__device__ inline void gemm(unsigned char *shared, const elem *x, const elem *w, int m, int n, int k, int splits, acc *partial,
                            unsigned *arrived, EPILOGUE) {
  Slice s(blockIdx.x, splits, m, n, k, SIDE, SIDE);
  long long batch = blockIdx.y;
  s.tile += blockIdx.y * (gridDim.x / splits);
  product<SIDE, ALIGNED, ALIGNED>(shared, x + batch * m * k, k, w + batch * k * n, m, n, k, s, {partial, arrived},
                                  EPILOGUE_OF(n, batch * m));
}

// Sums of fp64 take twice the registers.
#define BLOCKS(SIDE) (sizeof(acc) == 8 ? 1 : SIDE == 64 ? 4 : 2)

// Blocks are slices along x, and products of a batch along y.
#define GEMM(SIDE, name, ALIGNED)                                                                       \
  KERNEL __launch_bounds__(2 * SIDE, BLOCKS(SIDE))                                                      \
  name(const elem *x, const elem *w, int m, int n, int k, int splits, acc *partial, unsigned *arrived,  \
       EPILOGUE) {                                                                                      \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    gemm<SIDE, ALIGNED>(shared, x, w, m, n, k, splits, partial, arrived, y, bias, residual, scale, factor,      \
                        activation, sums);                                                              \
  }
GEMM(128, gemm_128x128, true)
GEMM(64, gemm_64x64, true)
GEMM(128, gemm_128x128_ragged, false)
GEMM(64, gemm_64x64_ragged, false)

#ifndef HWCAL_INT8
// Gated stores activation(X W) * (X V) of a tile whose warps have 16 columns of W and the same 16 of V.
struct Gated {
  static constexpr int OPERANDS = 2;
  Epilogue e;
  int gate; // its activation

  __device__ void operator()(int row, int column, const acc *sums, int quarter) const {
    acc v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = sums[4 * quarter + i];
    activate(v, gate);
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] *= sums[16 + 4 * quarter + i];
    e(row, column + 4 * quarter, v);
  }
};

// Y = SiLU(X W) * (X V)
#define SWIGLU(SIDE, name, ALIGNED)                                                                     \
  KERNEL __launch_bounds__(2 * SIDE, BLOCKS(SIDE))                                                      \
  name(const elem *x, const elem *w, const elem *v, void *y, int m, int n, int k, int splits,           \
       acc *partial, unsigned *arrived) {                                                               \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    Slice s(blockIdx.x, splits, m, n, k, SIDE, SIDE / 2);                                               \
    Tile<SIDE, ORDER> tile;                                                                             \
    Rows<SIDE, 2 * SIDE, ALIGNED> rows(x, s.row, m, k, s.k, k);                                         \
    Columns<SIDE, 2 * SIDE, ALIGNED> both(w, v, s.column, n, s.k, k);                                   \
    tile.multiply(shared, rows, both, s.steps);                                                         \
    if (!tile.gather(shared, s, {partial, arrived})) return;                                            \
    Epilogue e{y, nullptr, nullptr, nullptr, 1, LINEAR, 0, n, 0};                                       \
    tile.emit(shared, s.row, s.column, m, Gated{e, SILU});                                              \
  }
SWIGLU(128, swiglu_128x128, true)
SWIGLU(64, swiglu_64x64, true)
SWIGLU(128, swiglu_128x128_ragged, false)
SWIGLU(64, swiglu_64x64_ragged, false)

// Y[m,k] = activation(X[m,k] W[k,n] + b) W2[n,k]. What is between, H[m,width] with zeros behind n, stays
// in the L2 cache: the tiles of the second product begin when those of the first that have their rows are done.
#define MLP(SIDE, name, ALIGNED)                                                                        \
  KERNEL __launch_bounds__(2 * SIDE, BLOCKS(SIDE))                                                      \
  name(const elem *x, const elem *w, const acc *bias, int activation, const elem *w2, elem *y, int m,   \
       int n, int k, elem *h, int width, int splits, int splits2, acc *partial, unsigned *arrived,      \
       unsigned *counters) {                                                                            \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    int rows = (m + SIDE - 1) / SIDE, first = (n + SIDE - 1) / SIDE, second = (k + SIDE - 1) / SIDE;    \
    Queue queue(counters, rows);                                                                        \
    Scratch scratch{partial, arrived};                                                                  \
    Epilogue between{h, bias, nullptr, nullptr, 1, activation, 0, width, 0};                            \
    Epilogue out{y, nullptr, nullptr, nullptr, 1, LINEAR, 0, k, 0};                                     \
    for (;;) {                                                                                          \
      int unit = queue.next(shared), units = rows * first * splits;                                     \
      if (unit < units) {                                                                               \
        Slice s(unit, splits, m, n, k, SIDE, SIDE);                                                     \
        if (product<SIDE, ALIGNED, ALIGNED>(shared, x, k, w, m, n, k, s, scratch, between))             \
          queue.done(s.row / SIDE);                                                                     \
        continue;                                                                                       \
      }                                                                                                 \
      unit -= units;                                                                                    \
      if (unit >= rows * second * splits2) break;                                                       \
      Slice s(unit, splits2, m, k, n, SIDE, SIDE);                                                      \
      queue.wait(s.row / SIDE, first);                                                                  \
      product<SIDE, true, ALIGNED>(shared, h, width, w2, m, k, n, s, scratch, out);                     \
    }                                                                                                   \
    queue.leave(shared);                                                                                \
  }
MLP(128, mlp_128x128, true)
MLP(64, mlp_64x64, true)
MLP(128, mlp_128x128_ragged, false)
MLP(64, mlp_64x64_ragged, false)

// Y = layernorm(X W): the sums H[m,width] stay in the L2 cache until all of a row are there.
#define LAYERNORM(SIDE, name, ALIGNED)                                                                  \
  KERNEL __launch_bounds__(2 * SIDE, BLOCKS(SIDE))                                                      \
  name(const elem *x, const elem *w, const elem *gamma, const elem *beta, scalar eps, elem *y, int m,   \
       int n, int k, acc *h, int width, int splits, acc *partial, unsigned *arrived,                    \
       unsigned *counters) {                                                                            \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    const int WARPS = SIDE / 16;                                                                        \
    int rows = (m + SIDE - 1) / SIDE, first = (n + SIDE - 1) / SIDE;                                    \
    Queue queue(counters, rows);                                                                        \
    Epilogue between{h, nullptr, nullptr, nullptr, 1, LINEAR, 1, width, 0};                             \
    for (;;) {                                                                                          \
      int unit = queue.next(shared), units = rows * first * splits;                                     \
      if (unit < units) {                                                                               \
        Slice s(unit, splits, m, n, k, SIDE, SIDE);                                                     \
        if (product<SIDE, ALIGNED, ALIGNED>(shared, x, k, w, m, n, k, s, {partial, arrived}, between))  \
          queue.done(s.row / SIDE);                                                                     \
        continue;                                                                                       \
      }                                                                                                 \
      int row = (unit - units) * WARPS;                                                                 \
      if (row >= m) break;                                                                              \
      queue.wait(row / SIDE, first);                                                                    \
      row += threadIdx.x / 32;                                                                          \
      if (row < m) normalise(h + (long long)row * width, gamma, beta, eps, y + (long long)row * n, n);  \
    }                                                                                                   \
    queue.leave(shared);                                                                                \
  }
LAYERNORM(128, gemm_layernorm_128x128, true)
LAYERNORM(64, gemm_layernorm_64x64, true)
LAYERNORM(128, gemm_layernorm_128x128_ragged, false)
LAYERNORM(64, gemm_layernorm_64x64_ragged, false)
#endif
