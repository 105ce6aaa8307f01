#include "attention.cuh"
#include "attention_parts.cuh"

// out = softmax(scale Q K^T) V of all heads in one pass over the keys, after FlashAttention-2 (Dao,
// arXiv:2307.08691): scores of a tile are in registers only. If there are several parts of the keys,
// out is left to join, and what is to be joined goes to `memory`. factor is scale log2(e).
template <int QUERIES, int KEYS, int D>
__device__ inline void attention(elem *out, acc *memory, const elem *q, const elem *k, const elem *v, int heads, int group,
                                 int sq, int sk, int d, int causal, acc factor) {
  using Math = tile_math<QUERIES, KEYS, D>;
  DYNAMIC_SHARED(elem, shared);
  elem *queries = shared, *slots = queries + QUERIES * Math::stride;
  elem *scratch = slots + attention_slots * KEYS * Math::stride;

  const attention_block<QUERIES, KEYS> block(sq, sk, causal);
  const int begin = block.begin, end = block.end, there = block.there;
  const long long first_row = (long long)block.head * sq + block.first_query;
  k += (long long)(block.head / group) * sk * d;
  v += (long long)(block.head / group) * sk * d;
  load_tile<Math, QUERIES>(queries, q + first_row * d, there, d);
  tile_stream stream = stream_of<Math>(slots, d, [=](int step) {
    int key = begin + step / 2 * KEYS;
    return tile_source{(step % 2 ? v : k) + (long long)key * d, min(KEYS, end - key)};
  });

  Math math(queries, scratch);
  online_softmax<Math> softmax(factor);
  typename Math::result o;
#pragma unroll
  for (int r = 0; r < Math::rows; r++)
#pragma unroll
    for (int c = 0; c < o.columns; c++) o(r, c) = 0;

  for (int key = begin; key < end; key += KEYS) {
    const elem *keys = stream.next();
    if (key == begin) math.hold();
    typename Math::scores s;
    math.multiply(s, keys);
    if (key + KEYS > block.seen(0)) {
#pragma unroll
      for (int r = 0; r < Math::rows; r++)
#pragma unroll
        for (int c = 0; c < s.columns; c++)
          if (key + s.column(c) >= block.seen(Math::row(r))) s(r, c) = no_number();
    }
    acc shrink[Math::rows];
    softmax.add(s, shrink);
#pragma unroll
    for (int r = 0; r < Math::rows; r++)
#pragma unroll
      for (int c = 0; c < o.columns; c++) o(r, c) *= shrink[r];
    math.accumulate(o, s, stream.next());
  }
  softmax.finish();

  if (gridDim.y == 1) {
#pragma unroll
    for (int r = 0; r < Math::rows; r++) {
      acc reciprocal = 1 / softmax.total[r];
#pragma unroll
      for (int c = 0; c < o.columns; c++) o(r, c) *= reciprocal;
    }
    Math::write(out + first_row * d, d, there, d, o);
    return;
  }
  attention_parts<D> parts{memory, (int)gridDim.y, (long long)heads * sq};
#pragma unroll
  for (int r = 0; r < Math::rows; r++) {
    long long row = first_row + Math::row(r);
    if (Math::row(r) >= there) continue;
#pragma unroll
    for (int c = 0; c < o.columns; c += 2)
      *(acc2 *)(parts.sums(blockIdx.y, row) + o.column(c)) = {o(r, c), o(r, c + 1)};
    *parts.weights(blockIdx.y, row) = {softmax.base(r), softmax.total[r]};
  }
}

#define ATTENTION(QUERIES, KEYS, D)                                                                                   \
  KERNEL __launch_bounds__(attention_threads) attention_##QUERIES##x##KEYS##x##D(                                     \
      elem *out, acc *memory, const elem *q, const elem *k, const elem *v, int heads, int group, int sq, int sk, int d, \
      int causal, acc factor) {                                                                                      \
    attention<QUERIES, KEYS, D>(out, memory, q, k, v, heads, group, sq, sk, d, causal, factor);                       \
  }
ATTENTION_TILES(ATTENTION)
