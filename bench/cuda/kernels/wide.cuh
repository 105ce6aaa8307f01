// A tile of a product on Hopper: 128 x 256 or 192 x 256 sums of two or three warpgroups, in registers. A step of its
// pipeline takes 128 bytes along k of each row, which tensor cores read from shared memory by themselves: while they work on
// a step, the threads begin to copy a later one. What the L2 cache can read bounds it; the larger tile needs a quarter less.
#pragma once
#include "wgmma.cuh"
#include "product.cuh"

#if defined(HWCAL_WGMMA) && (defined(HWCAL_BF16) || defined(HWCAL_FP16) || defined(HWCAL_INT8))
#define HWCAL_WIDE

#if defined(HWCAL_BF16)
__device__ inline void wide_multiply(acc (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma_bf16_columns(d, a, b); }
#elif defined(HWCAL_FP16)
__device__ inline void wide_multiply(acc (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma_f16_columns(d, a, b); }
#else
__device__ inline void wide_multiply(acc (&d)[128], const Descriptor &a, const Descriptor &b) { wgmma_s8(d, a, b); }
#endif

// Swizzled is a stage as wgmma wants its operands; see wgmma.cuh. By columns, 64 of them lie behind each other.
struct Swizzled {
  static constexpr int BYTES = 128, STEP = BYTES / sizeof(elem);
  static constexpr int BLOCK = BYTES / sizeof(elem) * 128; // bytes of 64 columns
  static __device__ int by_rows(int row, int piece) { return row * 128 + ((piece ^ row & 7) << 4); }
  template <int BN>
  static __device__ int by_columns(int row, int piece) { return piece / 8 * BLOCK + by_rows(row, piece % 8); }
};

template <int GROUPS>
struct WideTile {
  static constexpr int DOWN = 64 * GROUPS, ACROSS = 256, THREADS = 128 * GROUPS, STAGES = 4;
  static constexpr int X_BYTES = DOWN * Swizzled::BYTES, STAGE = X_BYTES + ACROSS * Swizzled::BYTES;
  // Steps whose copies are under way. The tensor cores have another two: the one at which they are, and the next.
  static constexpr int AHEAD = STAGES - 2;
  // Rows of sums on their way to memory, 16 of a warp; a warp writes without conflicts.
  static constexpr int WIDTH = ACROSS + 8;

  acc d[128];

  template <class X, class W>
  __device__ void multiply(unsigned char *shared, X &x, W &w, int steps) {
#pragma unroll
    for (int i = 0; i < 128; i++) d[i] = 0;
#pragma unroll 1
    for (int s = 0; s < AHEAD; s++) {
      if (s < steps) {
        x.fill(shared + s * STAGE);
        w.fill(shared + s * STAGE + X_BYTES);
      }
      cp_async_commit();
    }
    int group = threadIdx.x / 128;
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
      cp_async_wait<AHEAD - 1>();
      operands_written();
      __syncthreads(); // Step s is there, and all are done with step s - 2, whose stage is free.
      const unsigned char *stage = shared + s % STAGES * STAGE;
      Descriptor left(stage + group * 64 * Swizzled::BYTES, 16, 1024, SWIZZLED);
#ifdef HWCAL_INT8
      constexpr int NEXT = 32; // bytes along k
      Descriptor right(stage + X_BYTES, 16, 1024, SWIZZLED);
#else
      constexpr int NEXT = 32 / sizeof(elem) * 128; // rows along k
      Descriptor right(stage + X_BYTES, Swizzled::BLOCK, 1024, SWIZZLED);
#endif
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < Swizzled::BYTES / 32; k++) {
        wide_multiply(d, left, right);
        left.move(32);
        right.move(NEXT);
      }
      wgmma_commit();
      if (s + AHEAD < steps) {
        unsigned char *free = shared + (s + AHEAD) % STAGES * STAGE;
        x.fill(free);
        w.fill(free + X_BYTES);
      }
      cp_async_commit();
      wgmma_wait<1>();
    }
    wgmma_wait<0>();
    wgmma_done(d);
    cp_async_wait<0>();
    __syncthreads();
  }

  // emit hands the rows below m to what stores them.
  template <class Out>
  __device__ void emit(unsigned char *shared, int row, int column, int m, const Out &out) {
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    acc *rows = (acc *)shared + threadIdx.x / 32 * 16 * WIDTH;
    row += threadIdx.x / 32 * 16;
#pragma unroll
    for (int i = 0; i < 128; i += 2)
      *(row_of<acc, 2> *)(rows + (g + i / 2 % 2 * 8) * WIDTH + i / 4 * 8 + 2 * t) = {d[i], d[i + 1]};
    __syncwarp();
#pragma unroll 1
    for (int r = 0; r < 16 && row + r < m; r++)
      out(row + r, column + g * (32 / Out::OPERANDS), rows + r * WIDTH + g * (32 / Out::OPERANDS), t);
    __syncthreads();
  }
};

// wide_product computes a tile and stores it; k is not in slices. Rows of X are `width` elements apart.
template <int GROUPS>
__device__ inline void wide_product(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                                    const Slice &s, const Epilogue &e) {
  typedef WideTile<GROUPS> tile;
  tile sums;
  Rows<tile::DOWN, tile::THREADS, true, Swizzled> rows(x, s.row, m, width, s.k, k);
#ifdef HWCAL_INT8
  Rows<tile::ACROSS, tile::THREADS, true, Swizzled> operand(w, s.column, n, k, s.k, k);
#else
  Columns<tile::ACROSS, tile::THREADS, true, Swizzled> operand(w, s.column, n, s.k, k);
#endif
  sums.multiply(shared, rows, operand, s.steps);
  sums.emit(shared, s.row, s.column, m, Plain{e});
}
#endif
