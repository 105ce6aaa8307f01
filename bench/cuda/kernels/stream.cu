// Bandwidth kernels over arrays of n doubles. A block works on its own part of them, so many times as
// there are passes. A single pass that writes is cut fine, if it reads too into one access of each thread a block: blocks
// begin in the order of their parts, so that all SMs together go through memory from one end to the other, which keeps
// more of its rows open than parts that lie far apart. Loads go past the L1 cache, which would hold a part of each array.
#include "memory.cuh"

constexpr int threads = 256;
constexpr int each = 4; // loads that a thread has under way of each array

// part is [lo, hi) of n elements, cut at multiples of 8, as bench.Part cuts them: its first element is at a
// multiple of 16 bytes. A fine one is of so many pairs for each thread, 0 for one that is not.
struct part {
  long long lo, hi;
  __device__ part(long long n, int fine) {
    if (fine) {
      lo = (long long)blockIdx.x * (2 * threads * fine);
      hi = min(lo + 2 * threads * fine, n);
      return;
    }
    const int grain = 8;
    long long blocks = (n + grain - 1) / grain;
    lo = min(blocks * blockIdx.x / gridDim.x * grain, n);
    hi = min(blocks * (blockIdx.x + 1) / gridDim.x * grain, n);
  }
};

// over_part calls pairs(index, distance) for `each` pairs of a thread at once, which are neighbours of
// those of the next thread, or, with four streams, lie in quarters of the part; pair(index) for those
// that are left, and single(index) for an element without another.
template <bool four, typename Pairs, typename Pair, typename Single>
__device__ inline void over_part(part p, Pairs pairs, Pair pair, Single single) {
  long long count = (p.hi - p.lo) / 2; // of pairs
  long long stride = four ? count / each : threads, end = four ? stride : count;
  long long step = four ? threads : each * threads, i = threadIdx.x;
  for (; i + (four ? 0 : (each - 1) * threads) < end; i += step) pairs(p.lo + 2 * i, 2 * stride);
  // What is left: less than a step of all threads, or than a pair of each quarter. In L2 that is all
  // of a part, or most.
  if (four) i = each * stride + threadIdx.x;
  for (; i < count; i += threads) pair(p.lo + 2 * i);
  if (threadIdx.x == 0 && (p.hi - p.lo) % 2) single(p.hi - 1);
}

__device__ inline unsigned long long bits(double v) { return (unsigned long long)__double_as_longlong(v); }

// sum[part] = the checksum of its elements of a: in each pass it is shifted left by a bit, and becomes its exclusive
// or with the bit patterns of them all, modulo 2^52.
template <bool four>
__device__ inline void checksum(double *sum, const double *a, long long n, long long passes) {
  part p(n, 0);
  unsigned long long s = 0;
  for (long long pass = 0; pass < passes; pass++) {
    s <<= 1;
    over_part<four>(
        p,
        [&](long long i, long long stride) {
          double2 v[each];
#pragma unroll
          for (int u = 0; u < each; u++) v[u] = load_l2((const double2 *)(a + i + u * stride));
#pragma unroll
          for (int u = 0; u < each; u++) s ^= bits(v[u].x) ^ bits(v[u].y);
        },
        [&](long long i) {
          double2 v = load_l2((const double2 *)(a + i));
          s ^= bits(v.x) ^ bits(v.y);
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

// write_all writes c[i] = value(a[i], b[i]), of which `reads` are read. Several rows of blocks share the passes.
template <int reads, bool nt, bool four, typename Value>
__device__ inline void write_all(double *c, const double *a, const double *b, long long n, long long passes, Value value) {
  part p(n, reads && (four || passes > 1) ? 0 : reads ? 1 : each);
  auto read = [](const double *p) { return nt ? load_streaming((const double2 *)p) : load_l2((const double2 *)p); };
  auto write = [&](long long i, double2 x, double2 y) {
    double2 *to = (double2 *)(c + i), v = make_double2(value(x.x, y.x), value(x.y, y.y));
    if (nt) store_streaming(to, v);
    else store(to, v);
  };
  for (long long pass = blockIdx.y; pass < passes; pass += gridDim.y)
    over_part<four>(
        p,
        [&](long long i, long long stride) {
          double2 x[each] = {}, y[each] = {};
#pragma unroll
          for (int u = 0; u < each; u++) {
            if (reads > 0) x[u] = read(a + i + u * stride);
            if (reads > 1) y[u] = read(b + i + u * stride);
          }
#pragma unroll
          for (int u = 0; u < each; u++) write(i + u * stride, x[u], y[u]);
        },
        [&](long long i) {
          double2 x = {}, y = {};
          if (reads > 0) x = read(a + i);
          if (reads > 1) y = read(b + i);
          write(i, x, y);
        },
        [&](long long i) { store(c + i, value(reads > 0 ? load_l2(a + i) : 0, reads > 1 ? load_l2(b + i) : 0)); });
}

#define STREAM(name, reads, nt, four, result)                                                                        \
  KERNEL __launch_bounds__(threads) stream_##name(double *c, const double *a, const double *b, long long n,           \
                                                  long long passes, double s) {                                       \
    write_all<reads, nt, four>(c, a, b, n, passes, [=](double x, double y) { return result; });                           \
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
