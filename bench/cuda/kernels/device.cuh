// What all sources share: the declaration of kernels, and what the device says of itself.
#pragma once

#define KERNEL extern "C" __global__ void

// HWCAL_WGMMA says that there are the instructions of wgmma.cuh, which no later architecture has.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(HWCAL_EMULATED) && __CUDA_ARCH__ == 900
#define HWCAL_WGMMA
#endif

#ifdef HWCAL_EMULATED
#include "emulated.h"
#else
// DYNAMIC_SHARED(float, x) declares x: the shared memory of the block that the launch asks for.
#define DYNAMIC_SHARED(type, name)                                    \
  extern __shared__ __align__(1024) unsigned char dynamic_shared[];   \
  type *const name = reinterpret_cast<type *>(dynamic_shared)

__device__ inline unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ inline unsigned long long cycles() { return clock64(); }

// sm_number is that of the SM of this block.
__device__ inline int sm_number() {
  int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
#endif
