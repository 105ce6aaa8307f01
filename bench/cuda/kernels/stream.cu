// Bandwidth kernels over arrays of n doubles. A block works on a part of them. One that reads works on its own so many
// times as there are passes; of those that write, each pass has its own blocks, whose parts are cut fine, if they read too
// into one access of each thread a block: blocks begin in the order of their parts, so that all SMs together go through
// memory from one end to the other, which keeps more of its rows open than parts that lie far apart, and no SM is without
// work before the last pass. Loads go past the L1 cache, which would hold a part of each array.
#include "memory.cuh"

constexpr int threads = 256;
constexpr int most = 4; // loads that a thread has under way of each array

// part is [lo, hi) of n elements: the one of so many that bench.Part gives, cut at multiples of 8, so that its first
// element is at a multiple of 16 bytes; or a fine one, of so many pairs for each thread.
struct part {
  long long lo, hi;
  static __device__ part of(long long n, long long index, long long parts) {
    const int grain = 8;
    long long blocks = (n + grain - 1) / grain;
    return {min(blocks * index / parts * grain, n), min(blocks * (index + 1) / parts * grain, n)};
  }
  static __device__ part fine(long long n, long long index, int pairs) {
    long long lo = index * (2 * threads * pairs);
    return {lo, min(lo + 2 * threads * pairs, n)};
  }
};

// over_part calls pairs(index, distance, count) for up to `each` pairs of a thread at once, which are neighbours of those
// of the next thread, or, with four streams, lie in quarters of the part; and single(index) for an element without another.
template <int each, bool four, typename Pairs, typename Single>
__device__ inline void over_part(part p, Pairs pairs, Single single) {
  long long count = (p.hi - p.lo) / 2; // of pairs
  long long stride = four ? count / each : threads, end = four ? stride : count;
  for (long long i = threadIdx.x; i < end; i += four ? threads : each * threads)
    pairs(p.lo + 2 * i, 2 * stride, four ? (long long)each : (count - i + threads - 1) / threads);
  // What four streams leave is less than a pair of each.
  if (four && each * stride + threadIdx.x < count) pairs(p.lo + 2 * (each * stride + threadIdx.x), 0, 1);
  if (threadIdx.x == 0 && (p.hi - p.lo) % 2) single(p.hi - 1);
}

__device__ inline unsigned long long bits(double v) { return (unsigned long long)__double_as_longlong(v); }

// sum[part] = the checksum of its elements of a: in each pass it is shifted left by a bit, and becomes its exclusive
// or with the bit patterns of them all, modulo 2^52.
template <bool four>
__device__ inline void checksum(double *sum, const double *a, long long n, long long passes) {
  part p = part::of(n, blockIdx.x, gridDim.x);
  unsigned long long s = 0;
  for (long long pass = 0; pass < passes; pass++) {
    s <<= 1;
    over_part<most, four>(
        p,
        [&](long long i, long long stride, long long count) {
          double2 v[most] = {};
#pragma unroll
          for (int u = 0; u < most; u++)
            if (u < count) v[u] = load_l2((const double2 *)(a + i + u * stride));
#pragma unroll
          for (int u = 0; u < most; u++) s ^= bits(v[u].x) ^ bits(v[u].y);
        },
        [&](long long i) { s ^= bits(load_l2(a + i)); });
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) s ^= __shfl_xor_sync(~0u, s, lanes);
  __shared__ unsigned long long warps[threads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x > 0) return;
  s = 0;
  for (int i = 0; i < threads / 32; i++) s ^= warps[i];
  sum[blockIdx.x] = (double)(s & ((1ull << 52) - 1));
}

KERNEL __launch_bounds__(threads) stream_read(double *sum, const double *a, const double *, long long n, long long passes, double) {
  checksum<false>(sum, a, n, passes);
}
KERNEL __launch_bounds__(threads) stream_read4(double *sum, const double *a, const double *, long long n, long long passes, double) {
  checksum<true>(sum, a, n, passes);
}

// write_all writes c[i] = value(a[i], b[i]), of which `reads` are read, in so many parts in each pass.
template <int reads, bool nt, bool four, typename Value>
__device__ inline void write_all(double *c, const double *a, const double *b, long long n, long long parts, Value value) {
  constexpr int each = reads == 0 || four ? most : 1;
  auto read = [](const double *p) { return nt ? load_streaming((const double2 *)p) : load_l2((const double2 *)p); };
  long long index = blockIdx.x % parts;
  over_part<each, four>(
      four ? part::of(n, index, parts) : part::fine(n, index, each),
      [&](long long i, long long stride, long long count) {
        double2 x[each] = {}, y[each] = {};
#pragma unroll
        for (int u = 0; u < each; u++) {
          if (u >= count) break;
          if (reads > 0) x[u] = read(a + i + u * stride);
          if (reads > 1) y[u] = read(b + i + u * stride);
        }
#pragma unroll
        for (int u = 0; u < each; u++) {
          if (u >= count) break;
          double2 *to = (double2 *)(c + i + u * stride), v = make_double2(value(x[u].x, y[u].x), value(x[u].y, y[u].y));
          if (nt) store_streaming(to, v);
          else store(to, v);
        }
      },
      [&](long long i) { store(c + i, value(reads > 0 ? load_l2(a + i) : 0, reads > 1 ? load_l2(b + i) : 0)); });
}

#define STREAM(name, reads, nt, four, result)                                                                        \
  KERNEL __launch_bounds__(threads) stream_##name(double *c, const double *a, const double *b, long long n,           \
                                                  long long parts, double s) {                                        \
    write_all<reads, nt, four>(c, a, b, n, parts, [=](double x, double y) { return result; });                        \
  }
STREAM(write, 0, false, false, s)
STREAM(write_nt, 0, true, false, s)
STREAM(copy, 1, false, false, x)
STREAM(copy_nt, 1, true, false, x)
STREAM(copy_nt4, 1, true, true, x)
STREAM(scale, 1, false, false, s * x)
STREAM(add, 2, false, false, x + y)
STREAM(triad, 2, false, false, fma(s, y, x))
STREAM(triad_nt, 2, true, false, fma(s, y, x))
