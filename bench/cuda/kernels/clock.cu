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

// What an SM counted while samples ran, and where its counters stood when the last began; 0 if none runs.
struct lap {
  unsigned long long cycles, nanoseconds, cycle, nanosecond;
};

// lap_begin, a block on each SM, comes before what is counted, and lap_end behind it: the SMs count on in between,
// whatever runs. laps has a place for each of `most` numbers of SMs.
KERNEL lap_begin(lap *laps, int most) {
  int sm = sm_number();
  if (sm >= most) return;
  laps[sm].cycle = cycles();
  laps[sm].nanosecond = nanoseconds();
}

KERNEL lap_end(lap *laps, int most) {
  int sm = sm_number();
  if (sm >= most) return;
  unsigned long long cycle = cycles(), nanosecond = nanoseconds(), from = atomicExch(&laps[sm].cycle, 0ull);
  if (from == 0) return; // no block began on this SM, or another ended on it
  laps[sm].cycles += cycle - from;
  laps[sm].nanoseconds += nanosecond - laps[sm].nanosecond;
}
