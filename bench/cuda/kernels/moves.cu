// Operations that only move elements.
#include "types.cuh"

constexpr int side = sizeof(elem) > 4 ? 32 : 64, threads = 256;

// transpose_of writes y[n][m] = x[m][n], by tiles of side x side through shared memory, so that both are accessed in rows,
// G neighbours at once.
template <int G>
__device__ inline void transpose_of(elem *y, const elem *x, int m, int n) {
  constexpr int apart = sizeof(elem) < 4 ? 4 / sizeof(elem) : 1; // rows begin in different banks
  constexpr int groups = side / G, each = side * groups / threads; // of a row, and of a thread
  __shared__ elem tile[side][side + apart];
  int tiles = (n + side - 1) / side;
  int row0 = (int)(blockIdx.x / tiles) * side, column0 = (int)(blockIdx.x % tiles) * side;
  row_of<elem, G> v[each];
#pragma unroll
  for (int k = 0; k < each; k++) {
    int at = k * threads + threadIdx.x, row = row0 + at / groups, column = column0 + at % groups * G;
    if (row < m && column < n) v[k] = *(const row_of<elem, G> *)(x + (long long)row * n + column);
  }
#pragma unroll
  for (int k = 0; k < each; k++) {
    int at = k * threads + threadIdx.x;
#pragma unroll
    for (int i = 0; i < G; i++) tile[at / groups][at % groups * G + i] = v[k].at[i];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < each; k++) {
    int at = k * threads + threadIdx.x, row = row0 + at % groups * G, column = column0 + at / groups;
    row_of<elem, G> w;
#pragma unroll
    for (int i = 0; i < G; i++) w.at[i] = tile[at % groups * G + i][at / groups];
    if (row < m && column < n) *(row_of<elem, G> *)(y + (long long)column * m + row) = w;
  }
}

// By 16 bytes, where rows and columns are multiples of that, or by one element.
KERNEL __launch_bounds__(threads) transpose(elem *y, const elem *x, int m, int n) { transpose_of<16 / sizeof(elem)>(y, x, m, n); }
KERNEL __launch_bounds__(threads) transpose_single(elem *y, const elem *x, int m, int n) { transpose_of<1>(y, x, m, n); }

// copy_row moves so many elements by the threads of a group, 16 bytes at once if all is at multiples of that.
__device__ inline void copy_row(elem *y, const elem *x, int count, bool vectors) {
  constexpr int W = 16 / sizeof(elem);
  if (vectors)
    for (int j = threadIdx.x * W; j < count; j += blockDim.x * W) *(vec<elem> *)(y + j) = *(const vec<elem> *)(x + j);
  else
    for (int j = threadIdx.x; j < count; j += blockDim.x) y[j] = x[j];
}

// y[rows][n + k] = the rows of z[rows][k] behind those of x[rows][n].
KERNEL concat(elem *y, const elem *x, const elem *z, long long rows, int n, int k, int vectors) {
  long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  y += row * (n + k);
  copy_row(y, x + row * n, n, vectors);
  copy_row(y + n, z + row * k, k, vectors);
}

// y[row] = table[indices[row]], rows of n.
KERNEL embedding(elem *y, const elem *table, const int *indices, long long rows, int n, int vectors) {
  long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  copy_row(y + row * n, table + (long long)indices[row] * n, n, vectors);
}

// Y[.,q,p,d] = X[.,p,q,d], rows of d, so many in all.
KERNEL permute(elem *y, const elem *x, long long rows, int p, int q, int d, int vectors) {
  long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  long long outer = row / ((long long)p * q);
  int j = (int)(row / p % q), i = (int)(row % p);
  copy_row(y + row * d, x + ((outer * p + i) * q + j) * d, d, vectors);
}
