// Depthwise convolution, one filter for each channel, and what follows element by element:
// bound by reading X and writing Y. Filters are F[r,s,c]. A thread has eight neighbouring
// channels of PIXELS neighbours along q.
#include "conv.cuh"

constexpr int PIXELS = 4;

template <bool ALIGNED>
__device__ inline void depthwise(const elem *x, const elem *filters, int images, const Geometry &g, const Epilogue &e) {
  int wide = (g.c + 7) / 8, runs = (g.q + PIXELS - 1) / PIXELS;
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  int channel = i % wide * 8, run = i / wide % runs;
  long long line = i / wide / runs; // of Y, over all images
  if (line >= (long long)images * g.p) return;
  int left = g.c - channel, first = run * PIXELS;
  x += line / g.p * g.h * g.w * g.c + channel;
  int top = line % g.p * g.stride - g.pad;
  acc v[PIXELS][8] = {};
  for (int down = 0; down < g.r; down++)
    for (int across = 0; across < g.s; across++) {
      row_of<elem, 8> f = channels<8, ALIGNED>(filters + (down * g.s + across) * g.c + channel, left);
#pragma unroll
      for (int o = 0; o < PIXELS; o++) {
        int y = top + down, z = (first + o) * g.stride - g.pad + across;
        row_of<elem, 8> a = channels<8, ALIGNED>(g.within(y, z) ? x + (y * g.w + z) * g.c : nullptr, left);
#pragma unroll
        for (int j = 0; j < 8; j++) v[o][j] += widen(a.at[j]) * widen(f.at[j]);
      }
    }
#pragma unroll
  for (int o = 0; o < PIXELS; o++)
    if (first + o < g.q) e(line * g.q + first + o, channel, v[o]);
}

#define DEPTHWISE(name, ALIGNED)                                                       \
  KERNEL __launch_bounds__(256)                                                        \
  name(const elem *x, const elem *filters, int images, GEOMETRY, EPILOGUE) {           \
    depthwise<ALIGNED>(x, filters, images, GEOMETRY_OF, EPILOGUE_OF(c, 0));            \
  }
DEPTHWISE(conv2d_depthwise, true)
DEPTHWISE(conv2d_depthwise_ragged, false)
