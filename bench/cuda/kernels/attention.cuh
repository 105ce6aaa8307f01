// What the kernels of attention share: the tiles that go through shared memory, and the softmax
// of scores that come tile by tile. Q is [heads][sq][d], K and V are [heads / group][sk][d].
//
// A block has a tile of QUERIES queries of one head, and goes through tiles of KEYS keys. Rows of
// tiles are padded with zeros to D columns, for which kernels are compiled. `tile_math` multiplies
// them, by tensor cores where the type has them: what a thread holds of a tile is its `rows` and
// some columns.
#pragma once
#include "types.cuh"

static const int attention_threads = 128;
static const int attention_slots = 3; // of the ring of tiles

// The tiles for which there are kernels, as QUERIES x KEYS x D.
#if defined(HWCAL_BF16) || defined(HWCAL_FP16)
#include "attention_half.cuh"
#define ATTENTION_TILES(KERNELS) \
  KERNELS(64, 64, 64) KERNELS(128, 64, 64) KERNELS(64, 64, 128) KERNELS(128, 64, 128) KERNELS(64, 32, 256)
#elif defined(HWCAL_TF32)
#include "attention_tf32.cuh"
#define ATTENTION_TILES(KERNELS) KERNELS(64, 64, 64) KERNELS(64, 32, 128) KERNELS(64, 16, 256)
#elif defined(HWCAL_FP32)
#include "attention_scalar.cuh"
#define ATTENTION_TILES(KERNELS) KERNELS(64, 32, 64) KERNELS(64, 32, 128) KERNELS(32, 16, 256)
#elif defined(HWCAL_FP64)
#include "attention_scalar.cuh"
#define ATTENTION_TILES(KERNELS) KERNELS(32, 16, 64) KERNELS(32, 16, 128) KERNELS(16, 16, 256)
#endif

// 2^x. Of types of 16 bits what is below the normal numbers of float is 0.
__device__ inline double power_of_two(double x) { return exp2(x); }
__device__ inline float power_of_two(float x) {
#if defined(HWCAL_EMULATED) || !(defined(HWCAL_BF16) || defined(HWCAL_FP16))
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

__device__ inline acc no_number() { return __int_as_float(0xff800000); } // -infinity

// attention_block is the work of a block: a tile of queries of one head, and the keys from `begin`
// to before `end` that one of them sees. With causal, query i sees the keys up to i + sk - sq.
// Blocks are (tiles of queries x heads, parts of the keys).
template <int QUERIES, int KEYS>
struct attention_block {
  int head, first_query, there, begin, end;
  int hidden, all; // query i sees the keys below min(i + hidden, all)

  __device__ attention_block(int sq, int sk, int causal) {
    int tiles = (sq + QUERIES - 1) / QUERIES, tile = blockIdx.x % tiles;
    head = blockIdx.x / tiles;
    // Under a mask the last queries have the most to do, and begin first.
    first_query = (causal ? tiles - 1 - tile : tile) * QUERIES;
    there = min(QUERIES, sq - first_query);
    hidden = causal ? sk - sq + 1 : sk;
    all = sk;
    int each = ((sk + KEYS - 1) / KEYS + gridDim.y - 1) / gridDim.y * KEYS;
    begin = blockIdx.y * each;
    end = min(seen(there - 1), begin + each);
  }
  // Keys that a query of the tile sees.
  __device__ int seen(int query) const { return min(first_query + query + hidden, all); }
};

// load_tile begins to copy ROWS rows of d elements, of which only the first so many are there.
// The math says where chunks of 16 bytes lie.
template <class Math, int ROWS>
__device__ inline void load_tile(elem *shared, const elem *global, int rows, int d) {
  constexpr int V = vec<elem>::size, CHUNKS = Math::padded / V;
  if (d % V == 0) {
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * CHUNKS; i += attention_threads) {
      int row = i / CHUNKS, chunk = i % CHUNKS;
      bool there = row < rows && chunk * V < d;
      cp_async16(shared + Math::at(row, chunk), there ? global + (long long)row * d + chunk * V : global, there);
    }
    return;
  }
  for (int i = threadIdx.x; i < ROWS * CHUNKS; i += attention_threads) {
    int row = i / CHUNKS, chunk = i % CHUNKS;
    for (int e = 0; e < V; e++) {
      bool there = row < rows && chunk * V + e < d;
      shared[Math::at(row, chunk) + e] = there ? global[(long long)row * d + chunk * V + e] : narrow(0);
    }
  }
}

// tile_stream is a sequence of tiles of keys through a ring of three slots: two are on their
// way while one is computed with. source(step) is the tile of a step, with no rows behind the
// last.
struct tile_source {
  const elem *first;
  int rows;
};
template <class Math, class Source>
struct tile_stream {
  elem *slots;
  int d;
  Source source;
  int step;

  __device__ tile_stream(elem *slots, int d, Source source) : slots(slots), d(d), source(source), step(0) {
    fetch();
    fetch();
    step = 0;
  }
  // next waits for the tile of the next step, and for all warps to be done with the one before,
  // whose slot it fills.
  __device__ const elem *next() {
    cp_async_wait<1>();
    __syncthreads();
    step += 2;
    fetch();
    step -= 2;
    return slot(step - 1);
  }

private:
  __device__ elem *slot(int step) { return slots + step % attention_slots * Math::keys * Math::stride; }
  __device__ void fetch() {
    tile_source t = source(step);
    if (t.rows > 0) load_tile<Math, Math::keys>(slot(step), t.first, t.rows, d);
    cp_async_commit();
    step++;
  }
};

template <class Math, class Source>
__device__ inline tile_stream<Math, Source> stream_of(elem *slots, int d, Source source) {
  return {slots, d, source};
}

// sum_over and largest_over are those of so many neighbouring lanes.
template <int LANES>
__device__ inline acc sum_over(acc x) {
#pragma unroll
  for (int bits = LANES / 2; bits > 0; bits /= 2) x += __shfl_xor_sync(~0u, x, bits);
  return x;
}
template <int LANES>
__device__ inline acc largest_over(acc x) {
#pragma unroll
  for (int bits = LANES / 2; bits > 0; bits /= 2) x = max(x, __shfl_xor_sync(~0u, x, bits));
  return x;
}

// online_softmax is the softmax of the rows of a thread, of scores that come tile by tile
// (Milakov and Gimelshein, arXiv:1805.02867). exp(scale x) is taken as 2^(factor x), with factor = scale log2(e).
template <class Math>
struct online_softmax {
  acc factor;
  acc largest[Math::rows];
  acc total[Math::rows]; // of 2^(factor (x - largest)), over the columns of this lane

  __device__ explicit online_softmax(acc factor) : factor(factor) {
#pragma unroll
    for (int r = 0; r < Math::rows; r++) {
      largest[r] = no_number();
      total[r] = 0;
    }
  }
  // The largest, as it is subtracted: of a row that has seen nothing, 0.
  __device__ acc base(int r) const { return largest[r] == no_number() ? 0 : largest[r] * factor; }

  // add takes a tile in and turns its scores into their powers. It returns in `shrink` the
  // factor of each row for what was summed with the powers before.
  __device__ void add(typename Math::scores &s, acc shrink[Math::rows]) {
#pragma unroll
    for (int r = 0; r < Math::rows; r++) {
      acc before = largest[r], now = before;
#pragma unroll
      for (int c = 0; c < Math::scores::columns; c++) now = max(now, s(r, c));
      largest[r] = largest_over<Math::lanes>(now);
      acc b = base(r);
      shrink[r] = power_of_two(before * factor - b);
      acc sum = 0;
#pragma unroll
      for (int c = 0; c < Math::scores::columns; c++) {
        s(r, c) = power_of_two(s(r, c) * factor - b);
        sum += s(r, c);
      }
      total[r] = total[r] * shrink[r] + sum;
    }
  }
  // finish makes the totals those of whole rows.
  __device__ void finish() {
#pragma unroll
    for (int r = 0; r < Math::rows; r++) total[r] = sum_over<Math::lanes>(total[r]);
  }
};
