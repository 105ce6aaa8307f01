// Y = conv2d(X, W) as a product by tiles, and what follows element by element. "ragged"
// kernels are for channels that are no multiple of 16 bytes.
#include "conv.cuh"

template <int SIDE, bool ALIGNED>
__device__ inline void conv2d(unsigned char *shared, const elem *x, const elem *filters, int m, int n, int k,
                              const Geometry &g, int splits, const Scratch &scratch, const Epilogue &e) {
  Slice slice(blockIdx.x, splits, m, n, k, SIDE, SIDE);
  Tile<SIDE, BY_ROWS> tile;
  Patches<SIDE, 2 * SIDE, ALIGNED> patches(x, g, slice.row, m, slice.k);
  Rows<SIDE, 2 * SIDE, ALIGNED> rows(filters, slice.column, n, k, slice.k, k);
  tile.multiply(shared, patches, rows, slice.steps);
  if (tile.gather(shared, slice, scratch)) tile.emit(shared, slice.row, slice.column, m, Plain{e});
}

#define CONV2D(SIDE, name, ALIGNED)                                                                    \
  KERNEL __launch_bounds__(2 * SIDE, BLOCKS(SIDE))                                                     \
  name(const elem *x, const elem *filters, int m, int n, int k, GEOMETRY, int splits, acc *partial,    \
       unsigned *arrived, EPILOGUE) {                                                                  \
    DYNAMIC_SHARED(unsigned char, shared);                                                             \
    conv2d<SIDE, ALIGNED>(shared, x, filters, m, n, k, GEOMETRY_OF, splits, {partial, arrived},        \
                          EPILOGUE_OF(n, 0));                                                          \
  }
CONV2D(128, conv2d_128x128, true)
CONV2D(64, conv2d_64x64, true)
CONV2D(128, conv2d_128x128_ragged, false)
CONV2D(64, conv2d_64x64_ragged, false)

#ifndef HWCAL_INT8
// Depthwise brings rows of activation(depthwise(X) + b), a row for each pixel of Y: they are
// computed on their way.
template <int ROWS, int THREADS, bool ALIGNED>
struct Depthwise : Patches<ROWS, THREADS, ALIGNED> {
  typedef Patches<ROWS, THREADS, ALIGNED> patches;
  const elem *filters; // [r,s,c]
  const acc *bias;     // [c], with zeros behind
  int activation;

  __device__ Depthwise(const elem *x, const Geometry &g, int first, int m, int k0, const elem *filters, const acc *bias,
                       int activation)
      : patches(x, g, first, m, 0), filters(filters), bias(bias), activation(activation) {
    this->channel = k0 + threadIdx.x % 4 * PIECE;
  }
  __device__ void fill(unsigned char *stage) {
    const Geometry &g = this->g;
    int channel = this->channel, left = g.c - channel;
#pragma unroll
    for (int i = 0; i < patches::COUNT; i++) {
      acc v[PIECE] = {};
      if (left > 0) {
#pragma unroll
        for (int j = 0; j < PIECE; j++) v[j] = bias[channel + j];
        for (int down = 0; down < g.r; down++)
#pragma unroll 3
          for (int across = 0; across < g.s; across++) {
            row_of<elem, PIECE> a = channels<PIECE, ALIGNED>(this->at(i, down, across, channel), left);
            row_of<elem, PIECE> f = channels<PIECE, ALIGNED>(filters + (down * g.s + across) * g.c + channel, left);
#pragma unroll
            for (int j = 0; j < PIECE; j++) v[j] += widen(a.at[j]) * widen(f.at[j]);
          }
        activate(v, activation);
      }
      vec<elem> out;
#pragma unroll
      for (int j = 0; j < PIECE; j++) out.at[j] = narrow(v[j]);
      *(vec<elem> *)(stage + piece_by_rows(threadIdx.x / 4 + i * (THREADS / 4), threadIdx.x % 4)) = out;
    }
    this->channel += STEP;
  }
};

// Y = pointwise(activation(depthwise(X) + b)): filters F[r,s,c] of the first, W[n,c] of the second.
#define SEPARABLE(SIDE, name, ALIGNED)                                                                 \
  KERNEL __launch_bounds__(2 * SIDE, SIDE == 64 ? BLOCKS(64) : 1)                                      \
  name(const elem *x, const elem *weights, int m, int n, int k, GEOMETRY, const elem *filters,         \
       const acc *between, int activation_between, int splits, acc *partial, unsigned *arrived,        \
       EPILOGUE) {                                                                                     \
    DYNAMIC_SHARED(unsigned char, shared);                                                             \
    Geometry g = GEOMETRY_OF;                                                                          \
    Slice slice(blockIdx.x, splits, m, n, k, SIDE, SIDE);                                              \
    Tile<SIDE, BY_ROWS> tile;                                                                          \
    Depthwise<SIDE, 2 * SIDE, ALIGNED> depthwise(x, g, slice.row, m, slice.k, filters, between,        \
                                                 activation_between);                                  \
    Rows<SIDE, 2 * SIDE, ALIGNED> rows(weights, slice.column, n, k, slice.k, k);                       \
    tile.multiply(shared, depthwise, rows, slice.steps);                                               \
    if (tile.gather(shared, slice, {partial, arrived}))                                                \
      tile.emit(shared, slice.row, slice.column, m, Plain{EPILOGUE_OF(n, 0)});                         \
  }
SEPARABLE(128, separable_128x128, true)
SEPARABLE(64, separable_64x64, true)
SEPARABLE(128, separable_128x128_ragged, false)
SEPARABLE(64, separable_64x64_ragged, false)
#endif
