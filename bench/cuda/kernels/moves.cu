// Operations that only move elements.
#include "types.cuh"

constexpr int side = 32;

// y[n][m] = x[m][n], by tiles of side x side through shared memory, so that both are accessed in rows. A
// block has side x 8 threads.
KERNEL __launch_bounds__(side * 8) transpose(elem *y, const elem *x, int m, int n) {
  __shared__ elem tile[side][side + 1]; // odd rows: no two lanes meet in a bank
  long long tiles = (n + side - 1) / side;
  int row0 = (int)(blockIdx.x / tiles) * side, column0 = (int)(blockIdx.x % tiles) * side;
#pragma unroll
  for (int i = threadIdx.y; i < side; i += 8)
    if (row0 + i < m && column0 + (int)threadIdx.x < n) tile[i][threadIdx.x] = x[(long long)(row0 + i) * n + column0 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.y; i < side; i += 8)
    if (column0 + i < n && row0 + (int)threadIdx.x < m) y[(long long)(column0 + i) * m + row0 + threadIdx.x] = tile[threadIdx.x][i];
}

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
