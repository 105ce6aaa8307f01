// Layers that are more than a product and what follows element by element, by tiles.
#include "product.cuh"
#include "layers.cuh"
#include "wide.cuh"

template <int SIDE, bool ALIGNED>
struct Tiles {
  static constexpr int DOWN = SIDE, ACROSS = SIDE, THREADS = 2 * SIDE, SUMS = SIDE * SIDE;
  static constexpr int STEP = ::STEP, APART = 16;
  static constexpr int TEAM = 32; // threads that normalise a row

  static __device__ bool first(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                               const Slice &s, const Scratch &scratch, const Epilogue &e) {
    return product<SIDE, ALIGNED, ALIGNED>(shared, x, width, w, m, n, k, s, scratch, e);
  }
  // second has an X whose rows are multiples of 16 bytes.
  static __device__ bool second(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                                const Slice &s, const Scratch &scratch, const Epilogue &e) {
    return product<SIDE, true, ALIGNED>(shared, x, width, w, m, n, k, s, scratch, e);
  }
  static __device__ void both(unsigned char *shared, const elem *x, const elem *w, const elem *v, int m, int n, int k,
                              const Slice &s, const Scratch &scratch, const Gated<APART> &out) {
    Tile<SIDE, BY_COLUMNS> tile;
    Rows<SIDE, THREADS, ALIGNED> rows(x, s.row, m, k, s.k, k);
    Columns<SIDE, THREADS, ALIGNED> columns(w, v, APART, s.column, n, s.k, k);
    tile.multiply(shared, rows, columns, s.steps);
    if (tile.gather(shared, s, scratch)) tile.emit(shared, s.row, s.column, m, out);
  }
};

#define TILES(SIDE, ALIGNED, name)          \
  typedef Tiles<SIDE, ALIGNED> tiles_##name; \
  LAYER_KERNELS(tiles_##name, BLOCKS(SIDE), name)
TILES(128, true, 128x128)
TILES(64, true, 64x64)
TILES(128, false, 128x128_ragged)
TILES(64, false, 64x64_ragged)

#ifdef HWCAL_WIDE
template <int GROUPS>
struct Wide {
  typedef WideTile<GROUPS> tile;
  static constexpr int DOWN = tile::DOWN, ACROSS = tile::ACROSS, THREADS = tile::THREADS, SUMS = DOWN * ACROSS;
  static constexpr int STEP = Swizzled::STEP, APART = ACROSS / 2;
  static constexpr int TEAM = 32;

  static __device__ bool first(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                               const Slice &s, const Scratch &, const Epilogue &e) {
    wide_product<GROUPS>(shared, x, width, w, m, n, k, s, e);
    return true;
  }
  static __device__ void second(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                                const Slice &s, const Scratch &, const Epilogue &e) {
    wide_product<GROUPS>(shared, x, width, w, m, n, k, s, e);
  }
  static __device__ void both(unsigned char *shared, const elem *x, const elem *w, const elem *v, int m, int n, int k,
                              const Slice &s, const Scratch &, const Gated<APART> &out) {
    tile sums;
    Rows<DOWN, THREADS, true, Swizzled> rows(x, s.row, m, k, s.k, k);
    Columns<ACROSS, THREADS, true, Swizzled> columns(w, v, APART, s.column, n, s.k, k);
    sums.multiply(shared, rows, columns, s.steps);
    sums.emit(shared, s.row, s.column, m, out);
  }
};
#define WIDE(GROUPS, name)          \
  typedef Wide<GROUPS> wide_##name; \
  LAYER_KERNELS(wide_##name, 1, name)
WIDE(2, 128x256)
WIDE(3, 192x256)
#endif
