#include "attention.cuh"

// out[heads][sq][d] = P V, where V[heads / group][sk][d] is weighted with P[heads][sq][sk]: the second product of
// attention by itself. Under a mask what is not seen of P is not read.
template <int QUERIES, int KEYS, int D>
__device__ inline void weighted(elem *out, const elem *p, const elem *v, int group, int sq, int sk, int d, int causal) {
  using Math = tile_math<QUERIES, KEYS, D>;
  DYNAMIC_SHARED(elem, shared);
  elem *slots = shared, *scratch = slots + attention_slots * KEYS * Math::stride;
  const attention_block<QUERIES, KEYS> block(sq, sk, causal);
  const int end = block.end;

  const long long first_row = (long long)block.head * sq + block.first_query;
  p += first_row * sk;
  v += (long long)(block.head / group) * sk * d;
  tile_stream stream = stream_of<Math>(slots, d, [=](int step) {
    int key = step * KEYS;
    return tile_source{v + (long long)key * d, min(KEYS, end - key)};
  });
  Math math(nullptr, scratch);
  typename Math::result o;
#pragma unroll
  for (int r = 0; r < Math::rows; r++)
#pragma unroll
    for (int c = 0; c < o.columns; c++) o(r, c) = 0;
  for (int key = 0; key < end; key += KEYS) {
    typename Math::scores s;
    Math::read(s, p + key, sk, block.there, [&](int query) { return block.seen(query) - key; });
    math.accumulate(o, s, stream.next());
  }
  Math::write(out + first_row * d, d, block.there, d, o);
}

#define WEIGHTED(QUERIES, KEYS, D)                                                                                   \
  KERNEL __launch_bounds__(attention_threads) weighted_##QUERIES##x##KEYS##x##D(                                      \
      elem *out, const elem *p, const elem *v, int group, int sq, int sk, int d, int causal) {                        \
    weighted<QUERIES, KEYS, D>(out, p, v, group, sq, sk, d, causal);                                                  \
  }
ATTENTION_TILES(WEIGHTED)
