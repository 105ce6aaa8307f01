// Attention to a part of the keys, to be joined with the others: of each row the sum of
// V weighted with 2^(x - m), in D columns; m, the largest exponent; and the sum of the weights. For
// so many parts the sums [parts][rows][D] come first, then the pairs [parts][rows][2].
#pragma once
#include "types.cuh"

struct alignas(2 * sizeof(acc)) acc2 { acc x, y; };

template <int D>
struct attention_parts {
  acc *memory;
  int parts;
  long long rows;
  __device__ acc *sums(int part, long long row) const { return memory + (part * rows + row) * D; }
  __device__ acc2 *weights(int part, long long row) const {
    return (acc2 *)(memory + parts * rows * D) + part * rows + row;
  }
};
