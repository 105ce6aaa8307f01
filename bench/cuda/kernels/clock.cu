#include "device.cuh"

// result[0] = cycles of the SM, result[1] = nanoseconds, of a spin of at least `least`
// nanoseconds.
KERNEL spin(unsigned long long *result, long long least) {
  unsigned long long t0 = nanoseconds(), c0 = cycles(), t1, c1;
  do {
    t1 = nanoseconds();
    c1 = cycles();
  } while (t1 - t0 < (unsigned long long)least);
  result[0] = c1 - c0;
  result[1] = t1 - t0;
}
