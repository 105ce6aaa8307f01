// What the tensor cores of sm_90a can do, from shared memory.
#include "wgmma.cuh"
#include "peak.cuh"

#if defined(HWCAL_BF16)
#define MULTIPLY wgmma_bf16
#elif defined(HWCAL_FP16)
#define MULTIPLY wgmma_f16
#elif defined(HWCAL_TF32)
#define MULTIPLY wgmma_tf32
#elif defined(HWCAL_INT8)
#define MULTIPLY wgmma_s8
#elif defined(HWCAL_FP8_E4M3)
#define MULTIPLY wgmma_e4m3
#endif

constexpr int row_bytes = 32;
constexpr int turn = 4; // pairs of products, of which `pairs` and `last` are multiples

__device__ inline void place(char *shared, const char *mem, int rows) {
  for (int i = threadIdx.x; i < rows * row_bytes / 16; i += blockDim.x)
    *(uint4 *)(shared + operand_offset(i / 2, i % 2 * 16)) = *(const uint4 *)(mem + i * 16);
}

// Products of two warpgroups: so many pairs that add nothing, then `last` ones. a has 64 rows of 32 bytes, b, minus_b
// and c = E - b have 256, those of their transposes; start has a number for each row of a.
KERNEL __launch_bounds__(256, 1) peak_wgmma(number *out, long long elements, const char *a, const char *b, const char *minus_b,
                                            const char *c, const number *start, long long pairs, long long last) {
  __shared__ __align__(128) char x[64 * row_bytes], y[256 * row_bytes], minus_y[256 * row_bytes], z[256 * row_bytes];
  place(x, a, 64);
  place(y, b, 256);
  place(minus_y, minus_b, 256);
  place(z, c, 256);
  operands_written();
  __syncthreads();
  Descriptor left(x, 128, 256, PLAIN), right(y, 128, 256, PLAIN), other(minus_y, 128, 256, PLAIN), ending(z, 128, 256, PLAIN);
  int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  number upper = start[row], lower = start[row + 8], d[128];
#pragma unroll
  for (int i = 0; i < 128; i++) d[i] = i / 2 % 2 ? lower : upper;
  // While one warpgroup waits at the end of a turn, the other keeps the tensor cores busy. Without the wait, or
  // unrolled, NVRTC 12.1 takes minutes, and lets each product wait for the one before.
#pragma unroll 1
  for (long long p = 0; p < pairs + last; p += turn) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < turn; i++) {
      MULTIPLY(d, left, right);
      MULTIPLY(d, left, p < pairs ? other : ending);
    }
    wgmma_commit();
    wgmma_wait<0>();
  }
  leave(out, elements, d);
}
