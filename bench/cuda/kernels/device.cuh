// What all sources share: the declaration of kernels, and what the device says of itself.
#pragma once

#define KERNEL extern "C" __global__ void

#ifdef HWCAL_EMULATED
#include "emulated.h"
#else
__device__ inline unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ inline unsigned long long cycles() { return clock64(); }
#endif
