// Tiles of 16-bit numbers, multiplied by tensor cores: m16n8k16, as mma.cuh says who holds what.
// Each of the four warps has 16 or 32 of the queries, so that what it loads of the keys serves it
// twice. Chunks of a row are swizzled by the row, so that the eight rows that ldmatrix reads
// lie in different banks.
#pragma once
#include "mma.cuh"
#include "types.cuh"

// pack rounds two numbers, the first into the lower half.
__device__ inline unsigned pack(float low, float high) {
#ifdef HWCAL_EMULATED
  return narrow(low).bits | (unsigned)narrow(high).bits << 16;
#else
  unsigned both;
#ifdef HWCAL_BF16
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
#endif
}

__device__ inline void mma_half(float d[4], const unsigned a[4], const unsigned b[2]) {
#ifdef HWCAL_BF16
  mma_bf16(d, a, b);
#else
  mma_f16(d, a, b);
#endif
}

template <int QUERIES, int KEYS, int D>
struct tile_math {
  static constexpr int keys = KEYS, padded = D, stride = D;
  static constexpr int M = QUERIES / 64; // tiles of 16 queries of a warp
  static constexpr int rows = 2 * M, lanes = 4;
  // Queries stay in registers where there is room.
  static constexpr bool held = M * D <= 128;

  // A fragment is what a thread holds of QUERIES rows and C columns.
  template <int C>
  struct fragment {
    static constexpr int columns = C / 4;
    float d[M][C / 8][4];
    __device__ float &operator()(int r, int c) { return d[r / 2][c / 2][r % 2 * 2 + c % 2]; }
    __device__ static int column(int c) { return c / 2 * 8 + threadIdx.x % 4 * 2 + c % 2; }
  };
  typedef fragment<KEYS> scores;
  typedef fragment<D> result;

  __device__ static int row(int r) { return warp() * 16 * M + r / 2 * 16 + r % 2 * 8 + lane() / 4; }

  // Where a chunk of 16 bytes of a row lies in a tile, in elements.
  __device__ static int at(int row, int chunk) { return row * D + (chunk ^ row % 8) * 8; }

  const elem *queries;
  unsigned a[held ? M : 1][held ? D / 16 : 1][4];

  __device__ tile_math(const elem *queries, elem *) : queries(queries) {}

  // hold takes what it keeps of the queries, once they are there.
  __device__ void hold() {
    if constexpr (held) {
#pragma unroll
      for (int m = 0; m < M; m++)
#pragma unroll
        for (int k = 0; k < D / 16; k++) load(a[m][k], m, k);
    }
  }

  // multiply is S = Q K^T.
  __device__ void multiply(scores &s, const elem *keys) {
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
      unsigned q[M][4];
#pragma unroll
      for (int m = 0; m < M; m++) {
        if constexpr (held) {
#pragma unroll
          for (int i = 0; i < 4; i++) q[m][i] = a[m][k][i];
        } else {
          load(q[m], m, k);
        }
      }
#pragma unroll
      for (int n = 0; n < KEYS / 16; n++) {
        unsigned b[4]; // of keys 0-7 and 8-15, two each
        ldmatrix_x4(b, keys + at(n * 16 + lane() / 16 * 8 + lane() % 8, k * 2 + lane() / 8 % 2));
#pragma unroll
        for (int m = 0; m < M; m++) {
          if (k == 0) clear(s.d[m][2 * n]), clear(s.d[m][2 * n + 1]);
          mma_half(s.d[m][2 * n], q[m], b);
          mma_half(s.d[m][2 * n + 1], q[m], b + 2);
        }
      }
    }
  }

  // accumulate is O += P V. What a thread holds of P as a result is what it has to hold of it as
  // an operand.
  __device__ void accumulate(result &o, scores &p, const elem *values) {
#pragma unroll
    for (int k = 0; k < KEYS / 16; k++) {
      unsigned q[M][4];
#pragma unroll
      for (int m = 0; m < M; m++)
#pragma unroll
        for (int i = 0; i < 4; i++) q[m][i] = pack(p.d[m][2 * k + i / 2][i % 2 * 2], p.d[m][2 * k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
      for (int n = 0; n < D / 16; n++) {
        unsigned b[4];
        ldmatrix_x4_trans(b, values + at(k * 16 + lane() % 16, n * 2 + lane() / 16));
#pragma unroll
        for (int m = 0; m < M; m++) {
          mma_half(o.d[m][2 * n], q[m], b);
          mma_half(o.d[m][2 * n + 1], q[m], b + 2);
        }
      }
    }
  }

  // read is the inverse of write, of rows of which each has its own columns.
  template <class There>
  __device__ static void read(scores &s, const elem *in, long long stride, int rows_there, There there) {
    bool aligned = stride % 2 == 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const elem *line = in + row(r) * stride;
      int columns_there = row(r) < rows_there ? there(row(r)) : 0;
#pragma unroll
      for (int c = 0; c < s.columns; c += 2) {
        int column = s.column(c);
        unsigned two = 0;
        if (aligned && column + 2 <= columns_there) {
          two = *(const unsigned *)(line + column);
        } else {
          if (column < columns_there) two = line[column].bits;
          if (column + 1 < columns_there) two |= (unsigned)line[column + 1].bits << 16;
        }
        elem low = {(unsigned short)two}, high = {(unsigned short)(two >> 16)};
        s(r, c) = widen(low);
        s(r, c + 1) = widen(high);
      }
    }
  }

  // write stores the rows and columns of a fragment that are there. Lanes t and t+1 exchange pairs,
  // so that each has four neighbours, and the four lanes of a row whole sectors of 32 bytes.
  template <int C>
  __device__ static void write(elem *out, long long stride, int rows_there, int columns_there, fragment<C> &f) {
    bool odd = lane() % 2, aligned = stride % 4 == 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      elem *line = out + row(r) * stride;
      bool there = row(r) < rows_there;
#pragma unroll
      for (int c = 0; c < fragment<C>::columns; c += 4) {
        unsigned near = pack(f(r, c), f(r, c + 1)), far = pack(f(r, c + 2), f(r, c + 3));
        unsigned got = __shfl_xor_sync(~0u, odd ? near : far, 1);
        uint2 four = odd ? make_uint2(got, far) : make_uint2(near, got);
        int column = c * 4 + (odd ? 8 : 0) + lane() % 4 / 2 * 4;
        if (!there) continue;
        if (aligned && column + 4 <= columns_there) {
          *(uint2 *)(line + column) = four;
          continue;
        }
        for (int i = 0; i < 4; i++)
          if (column + i < columns_there) line[column + i].bits = (unsigned short)((i < 2 ? four.x : four.y) >> i % 2 * 16);
      }
    }
  }

private:
  __device__ static int warp() { return threadIdx.x / 32; }
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static void clear(float d[4]) { d[0] = d[1] = d[2] = d[3] = 0; }
  __device__ void load(unsigned q[4], int m, int k) {
    ldmatrix_x4(q, queries + at((warp() * M + m) * 16 + lane() % 16, k * 2 + lane() / 16));
  }
};
