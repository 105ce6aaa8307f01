// Tiles of fp32 and fp64, multiplied by the FMA of each thread. 16 lanes share their queries: of
// the scores each has every 16th key, of the result every 16th chunk. Rows are padded by 16
// bytes, so that neighbours lie in different banks.
#pragma once
#include "mma.cuh"
#include "types.cuh"

template <int QUERIES, int KEYS, int D>
struct tile_math {
  static constexpr int V = vec<elem>::size;
  static constexpr int keys = KEYS, padded = D, stride = D + V;
  static constexpr int rows = QUERIES / 8, lanes = 16;

  struct scores {
    static constexpr int columns = KEYS / 16;
    acc d[rows][columns];
    __device__ acc &operator()(int r, int c) { return d[r][c]; }
    __device__ static int column(int c) { return c * 16 + lane(); }
  };
  struct result {
    static constexpr int columns = D / 16;
    acc d[rows][columns];
    __device__ acc &operator()(int r, int c) { return d[r][c]; }
    __device__ static int column(int c) { return (c / V * 16 + lane()) * V + c % V; }
  };

  __device__ static int row(int r) { return threadIdx.x / 16 * rows + r; }
  __device__ static int at(int row, int chunk) { return row * stride + chunk * V; }

  const elem *queries;
  elem *weights; // [QUERIES][KEYS], where lanes exchange them
  __device__ tile_math(const elem *queries, elem *weights) : queries(queries), weights(weights) {}
  __device__ void hold() {}

  // multiply is S = Q K^T.
  __device__ void multiply(scores &s, const elem *keys) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < s.columns; c++) s(r, c) = 0;
#pragma unroll 2
    for (int chunk = 0; chunk < D / V; chunk++) {
      vec<elem> k[scores::columns];
#pragma unroll
      for (int c = 0; c < s.columns; c++) k[c] = chunk_at(keys + at(s.column(c), chunk));
#pragma unroll
      for (int r = 0; r < rows; r++) {
        vec<elem> q = chunk_at(queries + at(row(r), chunk));
#pragma unroll
        for (int c = 0; c < s.columns; c++)
#pragma unroll
          for (int e = 0; e < V; e++) s(r, c) += q.at[e] * k[c].at[e];
      }
    }
  }

  // accumulate is O += P V.
  __device__ void accumulate(result &o, scores &p, const elem *values) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < p.columns; c++) weights[row(r) * KEYS + p.column(c)] = p(r, c);
    __syncwarp();
#pragma unroll 1
    for (int key = 0; key < KEYS; key += V) {
      vec<elem> w[rows];
#pragma unroll
      for (int r = 0; r < rows; r++) w[r] = chunk_at(weights + row(r) * KEYS + key);
#pragma unroll
      for (int e = 0; e < V; e++)
#pragma unroll
        for (int c = 0; c < o.columns; c += V) {
          vec<elem> v = chunk_at(values + at(key + e, c / V * 16 + lane()));
#pragma unroll
          for (int r = 0; r < rows; r++)
#pragma unroll
            for (int i = 0; i < V; i++) o(r, c + i) += w[r].at[e] * v.at[i];
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

  // write stores the rows and columns that are there.
  __device__ static void write(elem *out, long long stride, int rows_there, int columns_there, scores &s) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < s.columns; c++)
        if (row(r) < rows_there && s.column(c) < columns_there) out[row(r) * stride + s.column(c)] = s(r, c);
  }
  __device__ static void write(elem *out, long long stride, int rows_there, int columns_there, result &o) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < o.columns; c++)
        if (row(r) < rows_there && o.column(c) < columns_there) out[row(r) * stride + o.column(c)] = o(r, c);
  }

private:
  __device__ static int lane() { return threadIdx.x % 16; }
  __device__ static vec<elem> chunk_at(const elem *p) { return *(const vec<elem> *)p; }
};
