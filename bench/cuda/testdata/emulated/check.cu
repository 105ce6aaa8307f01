// Kernels with which the emulation itself is tested.
#include "mma.cuh"

// y[i] = x[n - 1 - i] + the x of the lane that differs in its last bit, for a block of n threads.
KERNEL reversed(float *y, const float *x, int n, double nothing) {
  __shared__ float all[1024];
  DYNAMIC_SHARED(float, more);
  int i = threadIdx.x;
  all[i] = x[i];
  more[n - 1 - i] = x[i];
  __syncthreads();
  y[i] = (all[n - 1 - i] + more[i]) / 2 + __shfl_xor_sync(~0u, x[i], 1) + (float)nothing;
}

KERNEL without_barrier(float *y, const float *x, int n) {
  DYNAMIC_SHARED(float, all);
  int i = threadIdx.x;
  all[i] = x[i];
  y[i] = all[n - 1 - i];
}

KERNEL without_wait(float4 *y, const float4 *x) {
  DYNAMIC_SHARED(float4, all);
  cp_async16(&all[threadIdx.x], &x[threadIdx.x], true);
  cp_async_commit();
  cp_async16(&all[threadIdx.x + 32], &x[threadIdx.x], threadIdx.x % 2 == 0);
  cp_async_commit();
  cp_async_wait<1>();
  y[threadIdx.x] = all[threadIdx.x];
  y[threadIdx.x + 32] = all[threadIdx.x + 32];
  cp_async_wait<0>();
  y[threadIdx.x + 64] = all[threadIdx.x + 32];
}

KERNEL behind(float *y, int n) { y[n + threadIdx.x] = 0; }

KERNEL not_all(float *y) {
  if (threadIdx.x < 5) __syncthreads();
  else __syncwarp();
  y[threadIdx.x] = 0;
}

// D[16][8] = A[16][16] B[16][8] in bf16, both in rows, through shared memory.
KERNEL multiply_bf16(float *d, const uint4 *a, const uint4 *b) {
  DYNAMIC_SHARED(uint4, mem); // A in rows of two, then B in rows of one
  int lane = threadIdx.x;
  mem[lane] = a[lane];
  if (lane < 16) mem[32 + lane] = b[lane];
  __syncwarp();
  unsigned ra[4], rb[2];
  ldmatrix_x4(ra, &mem[lane % 16 * 2 + lane / 16]);
  ldmatrix_x2_trans(rb, &mem[32 + lane % 16]);
  float sum[4] = {};
  mma_bf16(sum, ra, rb);
  for (int i = 0; i < 4; i++) d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

// D[16][8] = A[16][32] B[8][32]^T in int8: rows of 16-bit elements are rows of twice as many.
KERNEL multiply_s8(int *d, const uint4 *a, const uint4 *b) {
  DYNAMIC_SHARED(uint4, mem);
  int lane = threadIdx.x;
  mem[lane] = a[lane];
  if (lane < 16) mem[32 + lane] = b[lane];
  __syncwarp();
  unsigned ra[4], rb[2];
  ldmatrix_x4(ra, &mem[lane % 16 * 2 + lane / 16]);
  ldmatrix_x2(rb, &mem[32 + lane % 8 * 2 + lane / 8 % 2]);
  int sum[4] = {};
  mma_s8(sum, ra, rb);
  for (int i = 0; i < 4; i++) d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

// D[16][8] = A[16][4] B[4][8].
KERNEL multiply_f64(double *d, const double *a, const double *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double sum[4] = {}, ra[2] = {a[g * 4 + t], a[(g + 8) * 4 + t]};
  mma_f64(sum, ra, b[t * 8 + g]);
  for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
