// Convolution of X[n,h,w,c] with filters W[k,r,s,c] to Y[n,p,q,k].
#pragma once
#include "tile.cuh"

struct Geometry {
  int h, w, c, p, q, r, s, stride, pad;

  // Where the filter lies for pixel `row` of Y, counted over n, p and q: its upper left corner in X.
  __device__ void corner(int row, int &image, int &top, int &left) const {
    image = row / (p * q);
    int pixel = row % (p * q);
    top = pixel / q * stride - pad;
    left = pixel % q * stride - pad;
  }
  // Whether row y and column z are in the image. What is not counts as 0.
  __device__ bool within(int y, int z) const { return (unsigned)y < (unsigned)h && (unsigned)z < (unsigned)w; }
};

#define GEOMETRY int h, int w, int c, int p, int q, int r, int s, int stride, int pad
#define GEOMETRY_OF \
  Geometry { h, w, c, p, q, r, s, stride, pad }

// Patches brings ROWS rows of the matrix whose row is what the filter sees for a pixel of Y,
// [r,s,c]. It is not in memory: implicit GEMM.
template <int ROWS, int THREADS, bool ALIGNED>
struct Patches {
  static constexpr int COUNT = ROWS * 4 / THREADS;
  const Geometry &g;
  const elem *images[COUNT];
  int tops[COUNT], lefts[COUNT];
  int down, across, channel; // of the filter, where the piece begins

  __device__ Patches(const elem *x, const Geometry &g, int first, int m, int k0) : g(g) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int row = first + threadIdx.x / 4 + i * (THREADS / 4), image;
      bool there = row < m;
      g.corner(there ? row : 0, image, tops[i], lefts[i]);
      images[i] = x + (long long)image * g.h * g.w * g.c;
      if (!there) tops[i] = -1 << 30; // above all images
    }
    int at = k0 + threadIdx.x % 4 * PIECE;
    channel = at % g.c;
    across = at / g.c % g.s;
    down = at / g.c / g.s;
  }
  // at is where an element of the patch of row i is, or null where there is none.
  __device__ const elem *at(int i, int down, int across, int channel) const {
    int y = tops[i] + down, z = lefts[i] + across;
    return down < g.r && g.within(y, z) ? images[i] + ((y * g.w + z) * g.c + channel) : nullptr;
  }
  __device__ void next(int &down, int &across, int &channel) const {
    channel -= g.c;
    if (++across == g.s) {
      across = 0;
      down++;
    }
  }
  __device__ void fill(unsigned char *stage) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      unsigned char *to = stage + piece_by_rows(threadIdx.x / 4 + i * (THREADS / 4), threadIdx.x % 4);
      if constexpr (ALIGNED) {
        const elem *from = at(i, down, across, channel);
        cp_async16(to, from ? from : images[i], from);
      } else {
        vec<elem> v;
        int d = down, a = across, k = channel;
#pragma unroll
        for (int j = 0; j < PIECE; j++) {
          const elem *from = at(i, d, a, k);
          v.at[j] = from ? *from : elem{};
          if (++k == g.c) next(d, a, k);
        }
        *(vec<elem> *)to = v;
      }
    }
    channel += STEP;
    while (channel >= g.c) next(down, across, channel);
  }
};

// channels are N neighbours of one pixel, or zeros where there is none.
template <int N, bool ALIGNED>
__device__ inline row_of<elem, N> channels(const elem *from, int left) {
  if constexpr (ALIGNED) {
    return from ? *(const row_of<elem, N> *)from : row_of<elem, N>{};
  } else {
    row_of<elem, N> v;
#pragma unroll
    for (int i = 0; i < N; i++) v.at[i] = from && i < left ? from[i] : elem{};
    return v;
  }
}
