// What the kernels of peaks share.
//
// Tensor cores repeat D <- D + A B, D <- D + A (-B) with random A and B, so that the sums stay small and exact
// however often: operands of zeros or ones would draw less power, and clock higher. The last pairs of
// products have E - B for -B, where E is 0 but in its first row: each adds a number to an element that depends on
// its row alone. D starts from where it ends at 2.
#pragma once

#if defined(HWCAL_FP64)
typedef double number;
#elif defined(HWCAL_INT8)
typedef int number;
#else
typedef float number;
#endif

// leave writes the accumulators of all threads, again and again until all elements are written: neighbours
// write beside each other, and all blocks write as much, as this is within the time that is taken. Each block
// begins with another accumulator, so that all are seen where there are fewer elements.
template <int N>
__device__ inline void leave(number *out, long long elements, const number (&x)[N]) {
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x, all = (long long)gridDim.x * blockDim.x;
  for (long long first = 0; first < elements; first += all * N)
#pragma unroll
    for (int i = 0; i < N; i++) {
      long long at = first + (i + blockIdx.x) % N * all + thread;
      if (at < elements) out[at] = x[i];
    }
}
