// Y[m,n] = X[m,k] W[k,n] of up to 1, 4 and 8 rows, and what follows element by element.
// gemv_rows is for W[n,k].
#include "gemv.cuh"

// Blocks are slices along x, and products of a batch along y.
#define GEMV_ROWS(M, name, ALIGNED)                                                                     \
  KERNEL __launch_bounds__(THREADS, RESIDENT(M))                                                                     \
  name(const elem *x, const elem *w, int m, int n, int k, int splits, acc *partial, unsigned *arrived,  \
       EPILOGUE) {                                                                                      \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    Slice s(blockIdx.x, splits, m, n, k, M, BAND);                                                      \
    long long batch = blockIdx.y;                                                                       \
    s.tile += blockIdx.y * (gridDim.x / splits);                                                        \
    gemv_rows<M, ALIGNED>(shared, x + batch * m * k, w + batch * k * n, m, n, k, s, {partial, arrived}, \
                          Plain{EPILOGUE_OF(n, batch * m)});                                            \
  }
GEMV_ROWS(1, gemv_rows_1, true)
GEMV_ROWS(4, gemv_rows_4, true)
GEMV_ROWS(8, gemv_rows_8, true)
GEMV_ROWS(1, gemv_rows_1_ragged, false)
GEMV_ROWS(4, gemv_rows_4_ragged, false)
GEMV_ROWS(8, gemv_rows_8_ragged, false)

#ifndef HWCAL_INT8
#define GEMV(M, name, ALIGNED)                                                                          \
  KERNEL __launch_bounds__(THREADS, RESIDENT(M))                                                                     \
  name(const elem *x, const elem *w, int m, int n, int k, int splits, acc *partial, unsigned *arrived,  \
       EPILOGUE) {                                                                                      \
    DYNAMIC_SHARED(unsigned char, shared);                                                              \
    Slice s(blockIdx.x, splits, m, n, k, M, COLUMNS);                                                   \
    long long batch = blockIdx.y;                                                                       \
    s.tile += blockIdx.y * (gridDim.x / splits);                                                        \
    gemv<M, ALIGNED>(shared, x + batch * m * k, k, w + batch * k * n, nullptr, m, n, k, s,              \
                     {partial, arrived}, Plain{EPILOGUE_OF(n, batch * m)});                             \
  }
GEMV(1, gemv_1, true)
GEMV(4, gemv_4, true)
GEMV(8, gemv_8, true)
GEMV(1, gemv_1_ragged, false)
GEMV(4, gemv_4_ragged, false)
GEMV(8, gemv_8_ragged, false)
#endif
