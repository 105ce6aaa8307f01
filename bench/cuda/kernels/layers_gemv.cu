// The layers of layers.cu for up to 1, 4 and 8 rows.
#include "gemv.cuh"
#include "layers.cuh"

template <int M, bool ALIGNED>
struct Few {
  static constexpr int DOWN = M, ACROSS = COLUMNS, THREADS = ::THREADS, SUMS = M * COLUMNS;
  static constexpr int STEP = ::STEP, APART = 16;
  static constexpr int TEAM = THREADS; // threads that normalise a row

  static __device__ bool first(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                               const Slice &s, const Scratch &scratch, const Epilogue &e) {
    return gemv<M, ALIGNED>(shared, x, width, w, nullptr, m, n, k, s, scratch, Plain{e});
  }
  static __device__ bool second(unsigned char *shared, const elem *x, int width, const elem *w, int m, int n, int k,
                                const Slice &s, const Scratch &scratch, const Epilogue &e) {
    return first(shared, x, width, w, m, n, k, s, scratch, e);
  }
  static __device__ void both(unsigned char *shared, const elem *x, const elem *w, const elem *v, int m, int n, int k,
                              const Slice &s, const Scratch &scratch, const Gated<APART> &out) {
    gemv<M, ALIGNED>(shared, x, k, w, v, m, n, k, s, scratch, out);
  }
};

#define FEW(M, ALIGNED, name)          \
  typedef Few<M, ALIGNED> few_##name; \
  LAYER_KERNELS(few_##name, RESIDENT(M), name)
FEW(1, true, 1)
FEW(4, true, 4)
FEW(8, true, 8)
FEW(1, false, 1_ragged)
FEW(4, false, 4_ragged)
FEW(8, false, 8_ragged)
