// The product X[m,k] W[k,n] by tiles; W is [n,k] in int8.
#pragma once
#include "tile.cuh"

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
