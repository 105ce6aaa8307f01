// Pools over images with the channels last: neighbouring threads have neighbouring channels.
#include "types.cuh"

// Y[N,P,Q,C] = the largest pixel of each window of X[N,H,W,C]; n elements of Y.
KERNEL max_pool(elem *y, const elem *x, long long n, int c, int h, int w, int p, int q, int size, int stride, int pad) {
  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  int channel = (int)(at % c), column = (int)(at / c % q) * stride - pad, row = (int)(at / c / q % p) * stride - pad;
  x += at / c / q / p * h * w * c + channel;
  acc largest = 0;
  bool first = true;
  for (int i = max(row, 0); i < min(row + size, h); i++)
    for (int j = max(column, 0); j < min(column + size, w); j++) {
      acc v = widen(x[((long long)i * w + j) * c]);
      if (first || v > largest) largest = v;
      first = false;
    }
  y[at] = narrow(largest);
}

// Y[N,C] = factor times the sum of so many pixels of each channel of X; n elements of Y.
KERNEL global_average_pool(elem *y, const elem *x, long long n, int c, int pixels, acc factor) {
  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  x += at / c * pixels * c + at % c;
  acc sum = 0;
#pragma unroll 8
  for (int i = 0; i < pixels; i++) sum += widen(x[(long long)i * c]);
  y[at] = narrow(sum * factor);
}
