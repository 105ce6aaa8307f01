#include "memory.cuh"

// One thread follows so many addresses of a chain from where it last stopped: each load depends on the one
// before. Loads go past the L1 cache.
KERNEL chase(void **at, long long loads) {
  void *p = *at;
#pragma unroll 16
  for (long long i = 0; i < loads; i++) p = load_l2((void *const *)p);
  *at = p;
}
