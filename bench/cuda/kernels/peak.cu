// What the arithmetic units can do, from registers.
#include "mma.cuh"
#include "peak.cuh"

#if defined(HWCAL_FP32) || defined(HWCAL_FP64)

__device__ inline float fused(float x, float a, float b) { return fmaf(x, a, b); }
__device__ inline double fused(double x, double a, double b) { return fma(x, a, b); }

// x <- a x + b in 16 registers of each thread, so many times; a multiple of 16. start has 1024 numbers.
KERNEL __launch_bounds__(512) peak_fma(number *out, long long elements, const number *start, long long steps, number a, number b) {
  constexpr int N = 16, unrolled = 16;
  number x[N];
#pragma unroll
  for (int i = 0; i < N; i++) x[i] = start[(threadIdx.x * N + i) % 1024];
  for (long long s = 0; s < steps; s += unrolled) {
#pragma unroll
    for (int u = 0; u < unrolled; u++)
#pragma unroll
      for (int i = 0; i < N; i++) x[i] = fused(x[i], a, b);
  }
  leave(out, elements, x);
}

#endif

// Tensor cores multiply no fp32, and fp64 from Ampere on.
#if !defined(HWCAL_FP32) && !(defined(HWCAL_FP64) && __CUDA_ARCH__ < 800)

// The operands of one product, in rows of 32 bytes.
#if defined(HWCAL_FP64)

struct right {
  double r; // of lane 4 g + t number t of row g
  __device__ right(const char *mem) : r(*(const double *)(mem + threadIdx.x % 32 * 8)) {}
};
struct left {
  double r[2];
  __device__ left(const char *mem) : r{right(mem).r, right(mem + 8 * 32).r} {}
};
__device__ inline void multiply(double *d, const left &a, const right &b) { mma_f64(d, a.r, b.r); }

#else

struct right {
  unsigned r[2]; // of lane 4 g + t the bytes from 4 t on of row g
  __device__ right(const char *mem) {
    const char *row = mem + threadIdx.x % 32 / 4 * 32 + threadIdx.x % 4 * 4;
    r[0] = *(const unsigned *)row;
    r[1] = *(const unsigned *)(row + 16);
  }
};
struct left {
  unsigned r[4];
  __device__ left(const char *mem) {
    right upper(mem), lower(mem + 8 * 32);
    r[0] = upper.r[0], r[1] = lower.r[0], r[2] = upper.r[1], r[3] = lower.r[1];
  }
};
#if defined(HWCAL_BF16)
__device__ inline void multiply(float *d, const left &a, const right &b) { mma_bf16(d, a.r, b.r); }
#elif defined(HWCAL_FP16)
__device__ inline void multiply(float *d, const left &a, const right &b) { mma_f16(d, a.r, b.r); }
#elif defined(HWCAL_TF32)
__device__ inline void multiply(float *d, const left &a, const right &b) { mma_tf32(d, a.r, b.r); }
#elif defined(HWCAL_INT8)
__device__ inline void multiply(int *d, const left &a, const right &b) { mma_s8(d, a.r, b.r); }
#elif defined(HWCAL_FP8_E4M3)
__device__ inline void multiply(float *d, const left &a, const right &b) { mma_e4m3(d, a.r, b.r); }
#endif

#endif

// Products by mma.sync in several tiles of each warp: so many pairs that add nothing, then `last` ones. a has
// 16 rows of 32 bytes, b, minus_b and c = E - b have 8, those of their transposes; start has a number for each row
// of a.
KERNEL __launch_bounds__(512) peak_mma(number *out, long long elements, const char *a, const char *b, const char *minus_b,
                                       const char *c, const number *start, long long pairs, long long last) {
  constexpr int tiles = 4, numbers = 4; // of D in a lane
  left x(a);
  right y(b);
  number d[tiles * numbers];
#pragma unroll
  for (int i = 0; i < tiles * numbers; i++) d[i] = start[threadIdx.x % 32 / 4 + i % numbers / 2 * 8];
  auto run = [&](long long n, const right &z) {
#pragma unroll 4
    for (long long p = 0; p < n; p++) {
#pragma unroll
      for (int i = 0; i < tiles; i++) multiply(d + i * numbers, x, y);
#pragma unroll
      for (int i = 0; i < tiles; i++) multiply(d + i * numbers, x, z);
    }
  };
  run(pairs, right(minus_b));
  run(last, right(c));
  leave(out, elements, d);
}

#endif
