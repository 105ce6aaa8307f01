// A tile of a product: BM x BN sums of a block of threads, in registers; X and W come through
// shared memory in a pipeline of asynchronous copies. All types share it: a step of the
// pipeline takes 64 bytes along k of each row, whatever the elements are, in pieces of 16
// bytes. What differs is how a warp multiplies (struct Warp).
#pragma once
#include "epilogue.cuh"
#include "memory.cuh"
#include "mma.cuh"

constexpr int STAGES = 4;
constexpr int PIECE = 16 / sizeof(elem); // elements in 16 bytes
constexpr int STEP = 64 / sizeof(elem);  // elements along k of one step
constexpr int WN = 32;                   // columns of a warp

// By rows keeps W as [n][k], by columns as [k][n].
enum Order { BY_ROWS, BY_COLUMNS };

// A stage of square tiles, of 64 bytes along k of each row, tells where it keeps a piece: pieces are permuted, so that the
// rows which a warp reads together lie in different banks.
__device__ inline int piece_by_rows(int row, int piece) {
  int moved = sizeof(elem) == 8 ? row & 2 : row >> 1 & 3;
  return row * 64 + ((piece ^ moved) << 4);
}

template <int BN>
__device__ inline int piece_by_columns(int row, int piece) {
  int moved = sizeof(elem) == 2 ? row & 7 : (row & 3) << 1;
  return row * (BN * (int)sizeof(elem)) + ((piece ^ moved) << 4);
}

struct Square {
  static constexpr int BYTES = 64;
  static __device__ int by_rows(int row, int piece) { return piece_by_rows(row, piece); }
  template <int BN>
  static __device__ int by_columns(int row, int piece) { return piece_by_columns<BN>(row, piece); }
};

// fetch begins to copy a piece of the elements of a row from k on. If pieces are not aligned, or end
// within, they are read one element at a time.
template <bool ALIGNED>
__device__ inline void fetch(unsigned char *to, const elem *from, bool valid, int left) {
  if constexpr (ALIGNED) {
    cp_async16(to, from, valid && left > 0);
  } else {
    vec<elem> v;
#pragma unroll
    for (int i = 0; i < PIECE; i++) v.at[i] = valid && i < left ? from[i] : elem{};
    *(vec<elem> *)to = v;
  }
}

// Rows brings ROWS rows of X[rows,k], or W[n,k], of which neighbours in k are neighbours in memory.
template <int ROWS, int THREADS, bool ALIGNED, class Stage = Square>
struct Rows {
  static constexpr int PIECES = Stage::BYTES / 16, STEP = Stage::BYTES / sizeof(elem);
  static constexpr int DOWN = THREADS / PIECES; // rows at once
  static constexpr int COUNT = (ROWS + DOWN - 1) / DOWN;
  const elem *from;
  long long stride;
  int row, rows, left;

  __device__ Rows(const elem *x, int first, int rows, int width, int k0, int k) : rows(rows) {
    int piece = threadIdx.x % PIECES;
    row = first + threadIdx.x / PIECES;
    stride = (long long)DOWN * width;
    from = x + (long long)row * width + k0 + piece * PIECE;
    left = k - k0 - piece * PIECE;
  }
  __device__ void fill(unsigned char *stage) {
    int in = threadIdx.x / PIECES;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
      if (ROWS % DOWN == 0 || in + i * DOWN < ROWS)
        fetch<ALIGNED>(stage + Stage::by_rows(in + i * DOWN, threadIdx.x % PIECES), from + i * stride, row + i * DOWN < rows, left);
    from += STEP;
    left -= STEP;
  }
};

// Columns brings BN columns of W[k,n]. Every other `run` columns may be those of a second matrix: with 16, each warp of
// a square tile has the same columns of both.
template <int BN, int THREADS, bool ALIGNED, class Stage = Square>
struct Columns {
  static constexpr int STEP = Stage::BYTES / sizeof(elem);
  static constexpr int PIECES = BN / PIECE; // of a row
  static constexpr int ROWS = THREADS / PIECES; // at once
  static constexpr int COUNT = (STEP + ROWS - 1) / ROWS;
  const elem *from;
  long long stride, step;
  int left, k;

  __device__ Columns(const elem *w, int first, int n, int k0, int k) : k(k - k0) {
    begin(w, first + threadIdx.x % PIECES * PIECE, n, k0);
  }
  __device__ Columns(const elem *w, const elem *second, int run, int first, int n, int k0, int k) : k(k - k0) {
    int column = threadIdx.x % PIECES * PIECE;
    begin(column / run % 2 ? second : w, first + column / (2 * run) * run + column % run, n, k0);
  }
  __device__ void begin(const elem *w, int column, int n, int k0) {
    int row = threadIdx.x / PIECES;
    k -= row;
    left = n - column;
    stride = (long long)ROWS * n;
    step = (long long)STEP * n;
    from = w + (long long)(k0 + row) * n + column;
  }
  __device__ void fill(unsigned char *stage) {
    int row = threadIdx.x / PIECES;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
      if (STEP % ROWS == 0 || row + i * ROWS < STEP)
        fetch<ALIGNED>(stage + Stage::template by_columns<BN>(row + i * ROWS, threadIdx.x % PIECES), from + i * stride,
                       i * ROWS < k, left);
    from += step;
    k -= STEP;
  }
};

// Warp has WM x WN sums. step adds a step of the pipeline to them; put writes 8 neighbouring rows to
// a buffer of rows of `width` sums.
#if defined(HWCAL_FP32)
// Lanes are 8 x 4: each has every eighth row, and every fourth column or, where those are
// neighbours in memory, four of every 16. Bits of the lane are dealt so that pairs of lanes
// read the same of one of the operands, which shared memory serves together.
template <int WM, int BN, Order order>
struct Warp {
  typedef row_of<elem, 2> two;
  acc d[WM / 8][WN / 4] = {};
  int down = lane() >> 1 & 1 | lane() >> 2 & 6, across = lane() & 1 | lane() >> 1 & 2;

  static __device__ int lane() { return threadIdx.x % 32; }
  // own is the column of sum j of a row.
  __device__ int own(int j) const { return order == BY_ROWS ? 4 * j + across : j / 4 * 16 + across * 4 + j % 4; }

  __device__ void step(const unsigned char *x, const unsigned char *w, int row, int column) {
#pragma unroll 1 // more would need more registers than there are
    for (int k = 0; k < STEP; k += 2) {
      two a[WM / 8];
#pragma unroll
      for (int i = 0; i < WM / 8; i++)
        a[i] = *(const two *)(x + piece_by_rows(row + 8 * i + down, k / 4) + k % 4 * 4);
      if (order == BY_COLUMNS) {
#pragma unroll
        for (int l = 0; l < 2; l++)
#pragma unroll
          for (int j = 0; j < WN / 4; j += 4) {
            vec<elem> b = *(const vec<elem> *)(w + piece_by_columns<BN>(k + l, column / 4 + j + across));
#pragma unroll
            for (int i = 0; i < WM / 8; i++)
#pragma unroll
              for (int c = 0; c < 4; c++) d[i][j + c] += a[i].at[l] * b.at[c];
          }
      } else {
#pragma unroll
        for (int j = 0; j < WN / 4; j++) {
          two b = *(const two *)(w + piece_by_rows(column + own(j), k / 4) + k % 4 * 4);
#pragma unroll
          for (int i = 0; i < WM / 8; i++)
#pragma unroll
            for (int l = 0; l < 2; l++) d[i][j] += a[i].at[l] * b.at[l];
        }
      }
    }
  }
  __device__ void put(int slab, acc *rows, int width) const {
#pragma unroll
    for (int j = 0; j < WN / 4; j++) rows[down * width + own(j)] = d[slab][j];
  }
};

#elif defined(HWCAL_FP64)
template <int WM, int BN, Order order>
struct Warp {
  acc d[WM / 16][WN / 8][4] = {};

  __device__ void step(const unsigned char *x, const unsigned char *w, int row, int column) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < STEP; k += 4) {
      acc b[WN / 8];
#pragma unroll
      for (int j = 0; j < WN / 8; j++)
        b[j] = order == BY_ROWS ? at(w + piece_by_rows(column + 8 * j + g, (k + t) / 2), t)
                                : at(w + piece_by_columns<BN>(k + t, (column + 8 * j + g) / 2), g);
#pragma unroll
      for (int i = 0; i < WM / 16; i++) {
        acc a[2];
#pragma unroll
        for (int r = 0; r < 2; r++) a[r] = at(x + piece_by_rows(row + 16 * i + 8 * r + g, (k + t) / 2), t);
#pragma unroll
        for (int j = 0; j < WN / 8; j++) mma_f64(d[i][j], a, b[j]);
      }
    }
  }
  static __device__ acc at(const unsigned char *piece, int i) { return ((const acc *)piece)[i % 2]; }

  __device__ void put(int slab, acc *rows, int width) const {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < WN / 8; j++) {
      const acc *two = d[slab / 2][j] + slab % 2 * 2;
      *(row_of<acc, 2> *)(rows + g * width + 8 * j + 2 * t) = {two[0], two[1]};
    }
  }
};

#else
#if defined(HWCAL_BF16)
__device__ inline void mma_elem(float d[4], const unsigned a[4], const unsigned b[2]) { mma_bf16(d, a, b); }
#elif defined(HWCAL_FP16)
__device__ inline void mma_elem(float d[4], const unsigned a[4], const unsigned b[2]) { mma_f16(d, a, b); }
#elif defined(HWCAL_TF32)
__device__ inline void mma_elem(float d[4], const unsigned a[4], const unsigned b[2]) { mma_tf32(d, a, b); }
#elif defined(HWCAL_INT8)
__device__ inline void mma_elem(int d[4], const unsigned a[4], const unsigned b[2]) { mma_s8(d, a, b); }
#endif

template <int WM, int BN, Order order>
struct Warp {
  acc d[WM / 16][WN / 8][4] = {};

  // One instruction takes 32 bytes along k.
  __device__ void step(const unsigned char *x, const unsigned char *w, int row, int column) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      unsigned b[WN / 16][4];
#pragma unroll
      for (int j = 0; j < WN / 16; j++) columns(b[j], w, half, column + 16 * j, lane);
#pragma unroll
      for (int i = 0; i < WM / 16; i++) {
        unsigned a[4];
        ldmatrix_x4(a, x + piece_by_rows(row + 16 * i + lane % 16, 2 * half + lane / 16));
#pragma unroll
        for (int j = 0; j < WN / 8; j++) mma_elem(d[i][j], a, b[j / 2] + j % 2 * 2);
      }
    }
  }
  // Two operands B, of 16 columns.
  static __device__ void columns(unsigned b[4], const unsigned char *w, int half, int column, int lane) {
    if (order == BY_ROWS) {
      ldmatrix_x4(b, w + piece_by_rows(column + lane / 16 * 8 + lane % 8, 2 * half + lane / 8 % 2));
    } else if (sizeof(elem) == 2) {
      ldmatrix_x4_trans(b, w + piece_by_columns<BN>(16 * half + lane % 16, column / 8 + lane / 16));
    } else {
#pragma unroll
      for (int r = 0; r < 4; r++) {
        int k = 8 * half + lane % 4 + r % 2 * 4, n = column + r / 2 * 8 + lane / 4;
        b[r] = *(const unsigned *)(w + piece_by_columns<BN>(k, n / 4) + n % 4 * 4);
      }
    }
  }
  __device__ void put(int slab, acc *rows, int width) const {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < WN / 8; j++) {
      const acc *two = d[slab / 2][j] + slab % 2 * 2;
      *(row_of<acc, 2> *)(rows + g * width + 8 * j + 2 * t) = {two[0], two[1]};
    }
  }
};
#endif

// Slice is the part of a product that one block computes: the tile of some first row and column, over
// so many steps from k on.
struct Slice {
  int row, column, k, steps;
  int tile, split, splits;

  // Slices of a tile follow each other, and tiles go down eight rows of tiles before they go
  // on to the right: those that run at the same time share X and W in the L2 cache. A tile
  // covers `down` rows and `across` columns, and takes k by steps of so many elements.
  __device__ Slice(int unit, int splits, int m, int n, int k, int down, int across, int step = STEP) : splits(splits) {
    const int GROUP = 8;
    tile = unit / splits;
    split = unit % splits;
    int rows = (m + down - 1) / down, columns = (n + across - 1) / across;
    int group = tile / (GROUP * columns), in = tile % (GROUP * columns);
    int high = rows - group * GROUP < GROUP ? rows - group * GROUP : GROUP;
    row = (group * GROUP + in % high) * down;
    column = in / high * across;
    int all = (k + step - 1) / step, each = (all + splits - 1) / splits;
    int left = all - split * each;
    this->k = split * each * step;
    steps = left < 0 ? 0 : left < each ? left : each;
  }
};

// Scratch is what the slices of a tile need to become one sum.
struct Scratch {
  acc *partial;      // [tiles, splits, sums of a tile]
  unsigned *arrived; // [tiles], 0 between launches
};

// A square tile of SIDE x SIDE sums. Warps are 2 x SIDE/32.
template <int SIDE, Order order>
struct Tile {
  static constexpr int WM = SIDE / 2, THREADS = 2 * SIDE, STAGE = 2 * SIDE * 64;
  // Rows of sums on their way to memory, 32 of a warp at a time; a warp writes without conflicts.
  static constexpr int WIDTH = WN + 32 / (int)sizeof(acc);
  static constexpr int OUT = THREADS / 32 * 32 * WIDTH * (int)sizeof(acc);
  static constexpr int SHARED = STAGES * STAGE > OUT ? STAGES * STAGE : OUT;

  Warp<WM, SIDE, order> warp;

  static __device__ int warp_row() { return threadIdx.x / 32 / (SIDE / WN) * WM; }
  static __device__ int warp_column() { return threadIdx.x / 32 % (SIDE / WN) * WN; }

  // multiply adds what X and W bring in so many steps.
  template <class X, class W>
  __device__ void multiply(unsigned char *shared, X &x, W &w, int steps) {
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
      if (s < steps) {
        x.fill(shared + s * STAGE);
        w.fill(shared + s * STAGE + SIDE * 64);
      }
      cp_async_commit();
    }
    int row = warp_row(), column = warp_column();
    for (int s = 0; s < steps; s++) {
      cp_async_wait<STAGES - 2>();
      __syncthreads();
      if (s + STAGES - 1 < steps) {
        unsigned char *stage = shared + (s + STAGES - 1) % STAGES * STAGE;
        x.fill(stage);
        w.fill(stage + SIDE * 64);
      }
      cp_async_commit();
      const unsigned char *stage = shared + s % STAGES * STAGE;
      warp.step(stage, stage + SIDE * 64, row, column);
    }
    cp_async_wait<0>();
    __syncthreads();
  }

  // gather adds up the slices of a tile: the block that comes last has the sums of all, in the
  // order of the slices, so that every run rounds alike. It says whether this is the one.
  __device__ bool gather(unsigned char *shared, const Slice &slice, const Scratch &scratch) {
    if (slice.splits == 1) return true;
    constexpr int SUMS = sizeof(warp.d) / sizeof(acc);
    acc *mine = (acc *)warp.d;
    acc *all = scratch.partial + (long long)slice.tile * slice.splits * SUMS * THREADS + threadIdx.x;
    acc *own = all + (long long)slice.split * SUMS * THREADS;
#pragma unroll
    for (int i = 0; i < SUMS; i++) own[i * THREADS] = mine[i];
    if (!last(shared, scratch.arrived + slice.tile, slice.splits)) return false;
#pragma unroll
    for (int i = 0; i < SUMS; i++) mine[i] = 0;
    for (int s = 0; s < slice.splits; s++) {
#pragma unroll
      for (int i = 0; i < SUMS; i++) mine[i] += fresh(all + ((long long)s * SUMS + i) * THREADS);
    }
    return true;
  }

  // emit hands the rows below m to what stores them: a quarter of the 32 columns of a warp at a time.
  template <class Out>
  __device__ void emit(unsigned char *shared, int row, int column, int m, const Out &out) {
    acc *rows = (acc *)shared + threadIdx.x / 32 * 32 * WIDTH;
    int lane = threadIdx.x % 32;
    row += warp_row();
    column += warp_column() / Out::OPERANDS;
#pragma unroll
    for (int part = 0; part < WM / 32; part++) {
      __syncwarp();
#pragma unroll
      for (int s = 0; s < 4; s++) warp.put(4 * part + s, rows + 8 * s * WIDTH, WIDTH);
      __syncwarp();
#pragma unroll 1
      for (int s = 0; s < 4; s++) {
        int r = 8 * s + lane / 4;
        if (row + 32 * part + r < m) out(row + 32 * part + r, column, rows + r * WIDTH, lane % 4);
      }
    }
    __syncthreads();
  }
};

// Blocks of an SM, as far as registers allow: sums of fp64 take two each.
#define BLOCKS(SIDE) (sizeof(acc) == 8 ? 1 : SIDE == 64 ? 4 : 2)

// Plain stores what a tile has.
struct Plain {
  static constexpr int OPERANDS = 1; // of W, side by side in a tile
  Epilogue e;

  __device__ void operator()(int row, int column, const acc *sums, int quarter) const {
    acc v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = sums[8 * quarter + i];
    e(row, column + 8 * quarter, v);
  }
};

#ifndef HWCAL_INT8
// Gated stores activation(X W) * (X V), where the columns of X V lie so far behind the same ones of X W.
template <int APART>
struct Gated {
  static constexpr int OPERANDS = 2;
  Epilogue e;
  int activation;

  __device__ void operator()(int row, int column, const acc *sums, int quarter) const {
    acc v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = sums[4 * quarter + i];
    activate(v, activation);
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] *= sums[APART + 4 * quarter + i];
    e(row, column + 4 * quarter, v);
  }
};
#endif
