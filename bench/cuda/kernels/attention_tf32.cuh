// Tiles of tf32, multiplied by tensor cores: m16n8k8, as mma.cuh says who holds what. Each of the
// four warps has 16 of the queries. Rows are padded by 16 bytes, so that neighbours lie in
// different banks.
#pragma once
#include "mma.cuh"
#include "types.cuh"

template <int QUERIES, int KEYS, int D>
struct tile_math {
  static_assert(QUERIES == 64, "16 queries a warp");
  static constexpr int keys = KEYS, padded = D, stride = D + 4;
  static constexpr int rows = 2, lanes = 4;

  template <int C>
  struct fragment {
    static constexpr int columns = C / 4;
    float d[C / 8][4];
    __device__ float &operator()(int r, int c) { return d[c / 2][r * 2 + c % 2]; }
    __device__ static int column(int c) { return c / 2 * 8 + threadIdx.x % 4 * 2 + c % 2; }
  };
  typedef fragment<KEYS> scores;
  typedef fragment<D> result;

  __device__ static int row(int r) { return warp() * 16 + r * 8 + lane() / 4; }
  __device__ static int at(int row, int chunk) { return row * stride + chunk * 4; }

  const elem *queries;
  __device__ tile_math(const elem *queries, elem *) : queries(queries) {}
  __device__ void hold() {}

  // multiply is S = Q K^T. To ldmatrix a row of 16 bytes is 4 elements here.
  __device__ void multiply(scores &s, const elem *keys) {
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) s.d[n][0] = s.d[n][1] = s.d[n][2] = s.d[n][3] = 0;
#pragma unroll 4
    for (int k = 0; k < D / 8; k++) {
      unsigned a[4];
      ldmatrix_x4(a, queries + at(warp() * 16 + lane() % 16, k * 2 + lane() / 16));
#pragma unroll
      for (int n = 0; n < KEYS / 16; n++) {
        unsigned b[4];
        ldmatrix_x4(b, keys + at(n * 16 + lane() / 16 * 8 + lane() % 8, k * 2 + lane() / 8 % 2));
        mma_tf32(s.d[2 * n], a, b);
        mma_tf32(s.d[2 * n + 1], a, b + 2);
      }
    }
  }

  // accumulate is O += P V. As columns of P a thread holds neighbours 2t and 2t+1, where the operand wants t and
  // t+4: the keys are summed in that other order.
  __device__ void accumulate(result &o, scores &p, const elem *values) {
    const float *v = values + lane() % 4 * 2 * stride + lane() / 4;
#pragma unroll
    for (int k = 0; k < KEYS / 8; k++) {
      unsigned a[4];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = __float_as_uint(narrow(p.d[k][i % 2 * 2 + i / 2]));
#pragma unroll
      for (int n = 0; n < D / 8; n++) {
        unsigned b[2] = {__float_as_uint(v[k * 8 * stride + n * 8]), __float_as_uint(v[(k * 8 + 1) * stride + n * 8])};
        mma_tf32(o.d[n], a, b);
      }
    }
  }

  // read is the inverse of write, of rows of which each has its own columns.
  template <class There>
  __device__ static void read(scores &s, const elem *in, long long stride, int rows_there, There there) {
#pragma unroll
    for (int r = 0; r < rows; r++) {
      int columns_there = row(r) < rows_there ? there(row(r)) : 0;
#pragma unroll
      for (int c = 0; c < s.columns; c++)
        s(r, c) = s.column(c) < columns_there ? in[row(r) * stride + s.column(c)] : 0;
    }
  }

  // write stores the rows and columns of a fragment that are there.
  template <int C>
  __device__ static void write(elem *out, long long stride, int rows_there, int columns_there, fragment<C> &f) {
    bool aligned = stride % 2 == 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      elem *line = out + row(r) * stride;
      if (row(r) >= rows_there) continue;
#pragma unroll
      for (int c = 0; c < fragment<C>::columns; c += 2) {
        int column = f.column(c);
        float2 two = make_float2(narrow(f(r, c)), narrow(f(r, c + 1)));
        if (aligned && column + 2 <= columns_there) {
          *(float2 *)(line + column) = two;
        } else {
          if (column < columns_there) line[column] = two.x;
          if (column + 1 < columns_there) line[column + 1] = two.y;
        }
      }
    }
  }

private:
  __device__ static int warp() { return threadIdx.x / 32; }
  __device__ static int lane() { return threadIdx.x % 32; }
};
