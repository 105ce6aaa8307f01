// Tensor cores and the copies that feed them, one warp-wide instruction a function: mma.sync, ldmatrix
// and cp.async of sm_80, as PTX ISA sections "Warp Level Matrix Multiply-Accumulate
// Instructions" and "cp.async" have them. All 32 lanes of a warp call them together.
//
// Who holds what, with g = lane / 4 and t = lane % 4, and E elements in a register of 32
// bits (bf16 and fp16 2, tf32 1, int8 and fp8 4), so that k = 8 E:
//
//	A[16][k], 4 registers: r holds A[g + 8 (r % 2)][E t + 4 E (r / 2) ...], E of them
//	B[k][8],  2 registers: r holds B[E t + 4 E r ...][g], E of them
//	D[16][8], 4 numbers:   i is D[g + 8 (i / 2)][2 t + i % 2]
//
// ldmatrix reads 8x8 matrices of 16-bit elements, or 8 rows of 16 bytes each: lane 8 i + j
// gives the address of row j of matrix i, and r[i] of lane 4 g + t becomes its elements [g][2 t]
// and [g][2 t + 1]; with trans [2 t][g] and [2 t + 1][g]. Addresses are multiples of 16 bytes.
#pragma once
#include "device.cuh"

#ifndef HWCAL_EMULATED

__device__ inline unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

#define LDMATRIX_X4(name, form)                                                               \
  __device__ inline void name(unsigned r[4], const void *shared) {                            \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0, %1, %2, %3}, [%4];"   \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                             \
                 : "r"(shared_address(shared))                                                \
                 : "memory");                                                                 \
  }
#define LDMATRIX_X2(name, form)                                                               \
  __device__ inline void name(unsigned r[2], const void *shared) {                            \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" form ".shared.b16 {%0, %1}, [%2];"           \
                 : "=r"(r[0]), "=r"(r[1])                                                     \
                 : "r"(shared_address(shared))                                                \
                 : "memory");                                                                 \
  }
LDMATRIX_X4(ldmatrix_x4, "")
LDMATRIX_X4(ldmatrix_x4_trans, ".trans")
LDMATRIX_X2(ldmatrix_x2, "")
LDMATRIX_X2(ldmatrix_x2_trans, ".trans")

#define MMA(name, shape, number, letter)                                                      \
  __device__ inline void name(number d[4], const unsigned a[4], const unsigned b[2]) {        \
    asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "  \
                 "{%0, %1, %2, %3};"                                                          \
                 : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));         \
  }
// D += A B. tf32 drops the low 13 bits of what it reads.
MMA(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
MMA(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
MMA(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
MMA(mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
#if __CUDA_ARCH__ >= 890
MMA(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
#endif

// In fp64 a register holds one element: A[16][4] is A[g + 8 r][t], B[4][8] is B[t][g], D[16][8] as above.
// Hopper has this product as one instruction; two of those of Ampere, of 8 rows, take it twice the time.
__device__ inline void mma_f64(double d[4], const double a[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(b));
#else
#pragma unroll
  for (int r = 0; r < 2; r++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[2 * r]), "+d"(d[2 * r + 1])
                 : "d"(a[r]), "d"(b));
#endif
}

// cp_async16 begins to copy 16 bytes, or zeros if they are not valid: then nothing is
// read. Both addresses are multiples of 16 bytes.
__device__ inline void cp_async16(void *shared, const void *global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
}

// cp_async_commit makes a group of the copies begun since the last.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// cp_async_wait waits for all groups of this thread but the latest N. A barrier then
// tells the others.
template <int N>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

#else

// The twins let the last lane that arrives do the work of the warp.

struct ldmatrix_lane {
  unsigned *r;
  const void *row;
};

template <int N, bool trans>
void ldmatrix(unsigned *r, const void *shared) {
  if ((unsigned long long)shared % 16) emulated_fail("ldmatrix: a row at no multiple of 16 bytes");
  emulated_warp<ldmatrix_lane>({r, shared}, [](ldmatrix_lane *lanes) {
    for (int lane = 0; lane < 32; lane++)
      for (int i = 0; i < N; i++) {
        auto element = [&](int row, int column) {
          return (unsigned)((const unsigned short *)lanes[8 * i + row].row)[column];
        };
        int g = lane / 4, t = lane % 4;
        lanes[lane].r[i] = trans ? element(2 * t, g) | element(2 * t + 1, g) << 16
                                 : element(g, 2 * t) | element(g, 2 * t + 1) << 16;
      }
  });
}
inline void ldmatrix_x4(unsigned r[4], const void *shared) { ldmatrix<4, false>(r, shared); }
inline void ldmatrix_x4_trans(unsigned r[4], const void *shared) { ldmatrix<4, true>(r, shared); }
inline void ldmatrix_x2(unsigned r[2], const void *shared) { ldmatrix<2, false>(r, shared); }
inline void ldmatrix_x2_trans(unsigned r[2], const void *shared) { ldmatrix<2, true>(r, shared); }

template <typename number>
struct mma_lane {
  number *d;
  const unsigned *a, *b;
};

// value(register, i) is the i-th of the E elements of a register.
template <typename number, int E, number (*value)(unsigned, int)>
void mma(number d[4], const unsigned a[4], const unsigned b[2]) {
  emulated_warp<mma_lane<number>>({d, a, b}, [](mma_lane<number> *lanes) {
    for (int row = 0; row < 16; row++)
      for (int column = 0; column < 8; column++) {
        number &sum = lanes[row % 8 * 4 + column / 2].d[row / 8 * 2 + column % 2];
        for (int k = 0; k < 8 * E; k++) {
          int t = k % (4 * E) / E, half = k / (4 * E);
          sum += value(lanes[row % 8 * 4 + t].a[row / 8 + 2 * half], k % E) *
                 value(lanes[column * 4 + t].b[half], k % E);
        }
      }
  });
}

inline float mma_value_bf16(unsigned r, int i) { return __uint_as_float(r >> 16 * i << 16); }
inline float mma_value_f16(unsigned r, int i) { return emulated_half_to_float((unsigned short)(r >> 16 * i)); }
inline float mma_value_tf32(unsigned r, int) { return __uint_as_float(r & ~0x1fffu); }
inline float mma_value_e4m3(unsigned r, int i) { return emulated_e4m3_to_float((unsigned char)(r >> 8 * i)); }
inline int mma_value_s8(unsigned r, int i) { return (signed char)(r >> 8 * i); }

inline void mma_bf16(float d[4], const unsigned a[4], const unsigned b[2]) { mma<float, 2, mma_value_bf16>(d, a, b); }
inline void mma_f16(float d[4], const unsigned a[4], const unsigned b[2]) { mma<float, 2, mma_value_f16>(d, a, b); }
inline void mma_tf32(float d[4], const unsigned a[4], const unsigned b[2]) { mma<float, 1, mma_value_tf32>(d, a, b); }
inline void mma_e4m3(float d[4], const unsigned a[4], const unsigned b[2]) { mma<float, 4, mma_value_e4m3>(d, a, b); }
inline void mma_s8(int d[4], const unsigned a[4], const unsigned b[2]) { mma<int, 4, mma_value_s8>(d, a, b); }

struct mma_f64_lane {
  double *d;
  const double *a;
  double b;
};

inline void mma_f64(double d[4], const double a[2], double b) {
  emulated_warp<mma_f64_lane>({d, a, b}, [](mma_f64_lane *lanes) {
    for (int row = 0; row < 16; row++)
      for (int column = 0; column < 8; column++)
        for (int k = 0; k < 4; k++)
          lanes[row % 8 * 4 + column / 2].d[row / 8 * 2 + column % 2] +=
            lanes[row % 8 * 4 + k].a[row / 8] * lanes[column * 4 + k].b;
  });
}

inline void cp_async16(void *shared, const void *global, bool valid) {
  emulated_copy_async(shared, valid ? global : nullptr);
}
inline void cp_async_commit() { emulated_copy_commit(); }
template <int N>
void cp_async_wait() { emulated_copy_wait(N); }

#endif
