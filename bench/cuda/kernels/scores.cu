#include "attention.cuh"

// out[heads][sq][sk] = scale Q K^T, under a mask up to what the last query of a tile sees.
template <int QUERIES, int KEYS, int D>
__device__ inline void scores(elem *out, const elem *q, const elem *k, int group, int sq, int sk, int d, int causal,
                              acc scale) {
  using Math = tile_math<QUERIES, KEYS, D>;
  DYNAMIC_SHARED(elem, shared);
  elem *queries = shared, *slots = queries + QUERIES * Math::stride;
  const attention_block<QUERIES, KEYS> block(sq, sk, causal);
  const int begin = block.begin, end = block.end;

  const long long first_row = (long long)block.head * sq + block.first_query;
  k += (long long)(block.head / group) * sk * d;
  load_tile<Math, QUERIES>(queries, q + first_row * d, block.there, d);
  tile_stream stream = stream_of<Math>(slots, d, [=](int step) {
    int key = begin + step * KEYS;
    return tile_source{k + (long long)key * d, min(KEYS, end - key)};
  });
  Math math(queries, nullptr);
  for (int key = begin; key < end; key += KEYS) {
    const elem *keys = stream.next();
    if (key == begin) math.hold();
    typename Math::scores s;
    math.multiply(s, keys);
#pragma unroll
    for (int r = 0; r < Math::rows; r++)
#pragma unroll
      for (int c = 0; c < s.columns; c++) s(r, c) *= scale;
    Math::write(out + first_row * sk + key, sk, block.there, end - key, s);
  }
}

// out[heads][sq][sk] = softmax(scale Q K^T), factor is scale log2(e). The keys are gone through
// twice, for the sums of the rows and for the weights: to multiply again takes less than to keep
// what only few rows a block would leave room for. There is one part of the keys.
template <int QUERIES, int KEYS, int D>
__device__ inline void weights(elem *out, const elem *q, const elem *k, int group, int sq, int sk, int d, acc factor) {
  using Math = tile_math<QUERIES, KEYS, D>;
  DYNAMIC_SHARED(elem, shared);
  elem *queries = shared, *slots = queries + QUERIES * Math::stride;
  const attention_block<QUERIES, KEYS> block(sq, sk, false);
  const int tiles = (sk + KEYS - 1) / KEYS;

  const long long first_row = (long long)block.head * sq + block.first_query;
  k += (long long)(block.head / group) * sk * d;
  load_tile<Math, QUERIES>(queries, q + first_row * d, block.there, d);
  tile_stream stream = stream_of<Math>(slots, d, [=](int step) {
    int key = step % tiles * KEYS;
    return tile_source{k + (long long)key * d, step < 2 * tiles ? min(KEYS, sk - key) : 0};
  });
  Math math(queries, nullptr);
  online_softmax<Math> softmax(factor);
  for (int key = 0; key < sk; key += KEYS) {
    const elem *keys = stream.next();
    if (key == 0) math.hold();
    typename Math::scores s;
    math.multiply(s, keys);
    if (key + KEYS > sk) {
#pragma unroll
      for (int c = 0; c < s.columns; c++)
#pragma unroll
        for (int r = 0; r < Math::rows; r++)
          if (key + s.column(c) >= sk) s(r, c) = no_number();
    }
    acc shrink[Math::rows];
    softmax.add(s, shrink);
  }
  softmax.finish();
  acc base[Math::rows], reciprocal[Math::rows];
#pragma unroll
  for (int r = 0; r < Math::rows; r++) {
    base[r] = softmax.base(r);
    reciprocal[r] = 1 / softmax.total[r];
  }
  for (int key = 0; key < sk; key += KEYS) {
    typename Math::scores s;
    math.multiply(s, stream.next());
#pragma unroll
    for (int r = 0; r < Math::rows; r++)
#pragma unroll
      for (int c = 0; c < s.columns; c++) s(r, c) = power_of_two(s(r, c) * factor - base[r]) * reciprocal[r];
    Math::write(out + first_row * sk + key, sk, block.there, sk - key, s);
  }
}

#define SCORES(QUERIES, KEYS, D)                                                                                     \
  KERNEL __launch_bounds__(attention_threads) scores_##QUERIES##x##KEYS##x##D(                                        \
      elem *out, const elem *q, const elem *k, int group, int sq, int sk, int d, int causal, acc scale) {             \
    scores<QUERIES, KEYS, D>(out, q, k, group, sq, sk, d, causal, scale);                                             \
  }                                                                                                                  \
  KERNEL __launch_bounds__(attention_threads) weights_##QUERIES##x##KEYS##x##D(                                       \
      elem *out, const elem *q, const elem *k, int group, int sq, int sk, int d, acc factor) {                        \
    weights<QUERIES, KEYS, D>(out, q, k, group, sq, sk, d, factor);                                                   \
  }
ATTENTION_TILES(SCORES)
