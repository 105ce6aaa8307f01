// Accesses whose way through the caches matters. The compiler neither drops nor repeats them.
#pragma once
#include "device.cuh"

#ifndef HWCAL_EMULATED

// load_l2 reads past the L1 cache.
__device__ inline double2 load_l2(const double2 *p) {
  double2 v;
  asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
  return v;
}
__device__ inline double load_l2(const double *p) {
  double v;
  asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}
__device__ inline void *load_l2(void *const *p) {
  void *v;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

// load_streaming reads what is not read again soon: the caches drop it first.
__device__ inline double2 load_streaming(const double2 *p) {
  double2 v;
  asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
  return v;
}

__device__ inline void store(double2 *p, double2 v) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}
__device__ inline void store(double *p, double v) {
  asm volatile("st.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

// store_streaming writes what is as soon dropped.
__device__ inline void store_streaming(double2 *p, double2 v) {
  asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}
__device__ inline void store_streaming(double *p, double v) {
  asm volatile("st.global.cs.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

#else

template <typename T> T load_l2(const T *p) { return *p; }
template <typename T> T load_streaming(const T *p) { return *p; }
template <typename T> void store(T *p, T v) { *p = v; }
template <typename T> void store_streaming(T *p, T v) { *p = v; }

#endif

// fresh reads what another block of this launch wrote, past the L1 cache.
template <typename T>
__device__ inline T fresh(const T *p) { return *(const volatile T *)p; }

// last says, to all threads of a block, whether it is the last of n blocks to get here; what
// the others wrote before is then there to be read fresh. The counter begins and ends with 0.
__device__ inline bool last(unsigned char *shared, unsigned *arrived, unsigned n) {
  __threadfence();
  __syncthreads();
  unsigned *seen = (unsigned *)shared;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    *seen = atomicAdd(arrived, 1u);
    if (*seen == n - 1) *arrived = 0;
  }
  __syncthreads();
  bool is = *seen == n - 1;
  __syncthreads();
  __threadfence();
  return is;
}
