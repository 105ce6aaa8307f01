// Y[m,n] = X[m,k] W[k,n] by tiles of 128x128 and 64x64, on Hopper of 192x256 and 128x256, and what follows element by element.
// "ragged" kernels are for operands whose rows are no multiple of 16 bytes.
#include "product.cuh"
#include "wide.cuh"

template <int SIDE, bool ALIGNED>
__device__ inline void gemm(unsigned char *shared, const elem *x, const elem *w, int m, int n, int k, int splits, acc *partial,
                            unsigned *arrived, EPILOGUE) {
  Slice s(blockIdx.x, splits, m, n, k, SIDE, SIDE);
  long long batch = blockIdx.y;
  s.tile += blockIdx.y * (gridDim.x / splits);
  product<SIDE, ALIGNED, ALIGNED>(shared, x + batch * m * k, k, w + batch * k * n, m, n, k, s, {partial, arrived},
                                  EPILOGUE_OF(n, batch * m));
}

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

#ifdef HWCAL_WIDE
#define WIDE_GEMM(GROUPS, name)                                                                              \
  KERNEL __launch_bounds__(128 * GROUPS, 1)                                                                  \
  name(const elem *x, const elem *w, int m, int n, int k, int, acc *, unsigned *, EPILOGUE) {                \
    DYNAMIC_SHARED(unsigned char, shared);                                                                   \
    Slice s(blockIdx.x, 1, m, n, k, WideTile<GROUPS>::DOWN, WideTile<GROUPS>::ACROSS, Swizzled::STEP);       \
    long long batch = blockIdx.y;                                                                            \
    wide_product<GROUPS>(shared, x + batch * m * k, k, w + batch * k * n, m, n, k, s, EPILOGUE_OF(n, batch * m)); \
  }
WIDE_GEMM(2, gemm_128x256)
WIDE_GEMM(3, gemm_192x256)
#endif
