// Chains that need more than the sums of a tile. By is how their products are computed: Tiles or Few.
#pragma once
#include "queue.cuh"

// swiglu: Y = SiLU(X W) * (X V).
template <class By>
__device__ inline void swiglu(unsigned char *shared, const elem *x, const elem *w, const elem *v, elem *y, int m, int n,
                              int k, int splits, const Scratch &scratch) {
  Slice s(blockIdx.x, splits, m, n, k, By::DOWN, By::ACROSS / 2, By::STEP);
  Epilogue e{y, nullptr, nullptr, nullptr, 1, LINEAR, 0, n, 0};
  By::both(shared, x, w, v, m, n, k, s, scratch, Gated<By::APART>{e, SILU});
}

// mlp: Y[m,k] = activation(X[m,k] W[k,n] + b) W2[n,k]. What is between, H[m,width] with zeros
// behind n, stays in the L2 cache: a tile of the second product begins when those of the first
// that have its rows are done.
template <class By>
__device__ inline void mlp(unsigned char *shared, const elem *x, const elem *w, const acc *bias, int activation,
                           const elem *w2, elem *y, int m, int n, int k, elem *h, int width, int splits, int splits2,
                           const Scratch &scratch, unsigned *counters) {
  int bands = (m + By::DOWN - 1) / By::DOWN;
  int first = (n + By::ACROSS - 1) / By::ACROSS, second = (k + By::ACROSS - 1) / By::ACROSS;
  int units = bands * first * splits;
  Queue queue(counters, bands);
  Scratch scratch2{scratch.partial + (long long)units * By::SUMS, scratch.arrived + bands * first};
  Epilogue between{h, bias, nullptr, nullptr, 1, activation, 0, width, 0};
  Epilogue out{y, nullptr, nullptr, nullptr, 1, LINEAR, 0, k, 0};
  for (;;) {
    int unit = queue.next(shared);
    if (unit < units) {
      Slice s(unit, splits, m, n, k, By::DOWN, By::ACROSS, By::STEP);
      if (By::first(shared, x, k, w, m, n, k, s, scratch, between)) queue.done(s.row / By::DOWN);
      continue;
    }
    unit -= units;
    if (unit >= bands * second * splits2) break;
    Slice s(unit, splits2, m, k, n, By::DOWN, By::ACROSS, By::STEP);
    queue.wait(s.row / By::DOWN, first);
    By::second(shared, h, width, w2, m, k, n, s, scratch2, out);
  }
  queue.leave(shared);
}

// gemm_layernorm: Y = layernorm(X W). H[m,width], which is X W, stays in the L2 cache until all of a row is there.
template <class By>
__device__ inline void gemm_layernorm(unsigned char *shared, const elem *x, const elem *w, const elem *gamma,
                                      const elem *beta, acc eps, elem *y, int m, int n, int k, elem *h, int width,
                                      int splits, const Scratch &scratch, unsigned *counters) {
  int bands = (m + By::DOWN - 1) / By::DOWN, first = (n + By::ACROSS - 1) / By::ACROSS;
  int units = bands * first * splits;
  Queue queue(counters, bands);
  Epilogue between{h, nullptr, nullptr, nullptr, 1, LINEAR, 0, width, 0};
  for (;;) {
    int unit = queue.next(shared);
    if (unit < units) {
      Slice s(unit, splits, m, n, k, By::DOWN, By::ACROSS, By::STEP);
      if (By::first(shared, x, k, w, m, n, k, s, scratch, between)) queue.done(s.row / By::DOWN);
      continue;
    }
    // The threads of a block have a row each team.
    const int TEAMS = By::THREADS / By::TEAM;
    int row = (unit - units) * TEAMS;
    if (row >= m) break;
    queue.wait(row / By::DOWN, first);
    row += threadIdx.x / By::TEAM;
    normalise<By::TEAM>((acc *)shared, h + (long long)row * width, gamma, beta, eps, y + (long long)row * n,
                        row < m ? n : 0);
  }
  queue.leave(shared);
}

#define LAYER_KERNELS(By, blocks, name)                                                                     \
  KERNEL __launch_bounds__(By::THREADS, blocks)                                                             \
  swiglu_##name(const elem *x, const elem *w, const elem *v, elem *y, int m, int n, int k, int splits,      \
                acc *partial, unsigned *arrived) {                                                          \
    DYNAMIC_SHARED(unsigned char, shared);                                                                  \
    swiglu<By>(shared, x, w, v, y, m, n, k, splits, {partial, arrived});                                    \
  }                                                                                                         \
  KERNEL __launch_bounds__(By::THREADS, blocks)                                                             \
  mlp_##name(const elem *x, const elem *w, const acc *bias, int activation, const elem *w2, elem *y, int m, \
             int n, int k, elem *h, int width, int splits, int splits2, acc *partial, unsigned *arrived,    \
             unsigned *counters) {                                                                          \
    DYNAMIC_SHARED(unsigned char, shared);                                                                  \
    mlp<By>(shared, x, w, bias, activation, w2, y, m, n, k, h, width, splits, splits2, {partial, arrived},  \
            counters);                                                                                      \
  }                                                                                                         \
  KERNEL __launch_bounds__(By::THREADS, blocks)                                                             \
  gemm_layernorm_##name(const elem *x, const elem *w, const elem *gamma, const elem *beta, acc eps, elem *y, \
                        int m, int n, int k, elem *h, int width, int splits, acc *partial,                   \
                        unsigned *arrived, unsigned *counters) {                                            \
    DYNAMIC_SHARED(unsigned char, shared);                                                                  \
    gemm_layernorm<By>(shared, x, w, gamma, beta, eps, y, m, n, k, h, width, splits, {partial, arrived},    \
                       counters);                                                                           \
  }
