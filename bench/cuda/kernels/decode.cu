#include "attention.cuh"
#include "attention_parts.cuh"

// Attention of few queries to many keys, bound by reading K and V: flash-decoding (Dao, Haziza, Massa
// and Sizov, 2023). The R queries of a block share what it reads. A team of lanes, as many as a row has
// chunks of 16 bytes, takes a key at a time; every team has sums of its own over its keys, which
// it does not share before the end. Rows of all d end up in D columns, the rest zeros.
template <int R, int D>
struct decode_team {
  static constexpr int V = vec<elem>::size;
  static constexpr int chunks = D / V;                     // of a row
  static constexpr int lanes = chunks < 32 ? chunks : 32;  // of a team
  static constexpr int each = chunks / lanes;              // chunks of a lane
  static constexpr int teams = attention_threads / lanes;
  static constexpr int warps = attention_threads / 32;
  static constexpr int batch = each > 1 ? 2 : 4; // keys of a team on their way at once

  acc largest[R], total[R], sum[R][each * V];

  __device__ static int lane() { return threadIdx.x % lanes; }

  // Chunk i of this lane of a row, zeros where the row has no more.
  __device__ static vec<elem> load(const elem *row, int i, int d, bool there) {
    int column = (lane() + i * lanes) * V;
    vec<elem> x;
    if (d % V == 0) {
      if (there && column < d) return *(const vec<elem> *)(row + column);
#pragma unroll
      for (int e = 0; e < V; e++) x.at[e] = narrow(0);
      return x;
    }
#pragma unroll
    for (int e = 0; e < V; e++) x.at[e] = there && column + e < d ? row[column + e] : narrow(0);
    return x;
  }

  // merge takes in the sums of others: what they have of x counts 2^theirs, ours 2^largest.
  __device__ void merge(int r, acc theirs_largest, acc theirs_total, const acc theirs[each * V]) {
    acc now = max(largest[r], theirs_largest);
    acc base = now == no_number() ? 0 : now;
    acc ours = power_of_two(largest[r] - base), other = power_of_two(theirs_largest - base);
    largest[r] = now;
    total[r] = total[r] * ours + theirs_total * other;
#pragma unroll
    for (int i = 0; i < each * V; i++) sum[r][i] = sum[r][i] * ours + theirs[i] * other;
  }
};

// Blocks: (heads of K x groups of R of the queries that share them, parts of the keys). Rows are the queries
// of a head of K, factor is scale log2(e).
template <int R, int D>
__device__ inline void decode(elem *out, acc *memory, const elem *q, const elem *k, const elem *v, int rows, int sk, int d,
                              acc factor) {
  using Team = decode_team<R, D>;
  constexpr int V = Team::V, N = Team::each * V;
  const int groups = (rows + R - 1) / R, head = blockIdx.x / groups, first = blockIdx.x % groups * R;
  const int there = min(R, rows - first);
  const long long first_row = (long long)head * rows + first;
  const int each = (sk + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * each, end = min(sk, begin + each);
  k += (long long)head * sk * d;
  v += (long long)head * sk * d;

  Team team;
  acc query[R][N];
#pragma unroll
  for (int r = 0; r < R; r++) {
    team.largest[r] = no_number();
    team.total[r] = 0;
#pragma unroll
    for (int i = 0; i < Team::each; i++) {
      vec<elem> x = Team::load(q + (first_row + r) * d, i, d, r < there);
#pragma unroll
      for (int e = 0; e < V; e++) {
        query[r][i * V + e] = widen(x.at[e]) * factor;
        team.sum[r][i * V + e] = 0;
      }
    }
  }

  // All lanes of a warp go through as many rounds: they exchange numbers.
  for (int key = begin; key < end; key += Team::teams * Team::batch) {
    vec<elem> keys[Team::batch][Team::each], values[Team::batch][Team::each];
#pragma unroll
    for (int b = 0; b < Team::batch; b++) {
      int mine = key + b * Team::teams + threadIdx.x / Team::lanes;
#pragma unroll
      for (int i = 0; i < Team::each; i++) keys[b][i] = Team::load(k + (long long)mine * d, i, d, mine < end);
    }
#pragma unroll
    for (int b = 0; b < Team::batch; b++) {
      int mine = key + b * Team::teams + threadIdx.x / Team::lanes;
#pragma unroll
      for (int i = 0; i < Team::each; i++) values[b][i] = Team::load(v + (long long)mine * d, i, d, mine < end);
    }
    acc weight[R][Team::batch];
#pragma unroll
    for (int b = 0; b < Team::batch; b++) {
      bool mine = key + b * Team::teams + (int)threadIdx.x / Team::lanes < end;
      acc wide[N];
#pragma unroll
      for (int i = 0; i < N; i++) wide[i] = widen(keys[b][i / V].at[i % V]);
#pragma unroll
      for (int r = 0; r < R; r++) {
        acc x = 0;
#pragma unroll
        for (int i = 0; i < N; i++) x += query[r][i] * wide[i];
        x = sum_over<Team::lanes>(x);
        weight[r][b] = mine ? x : no_number();
      }
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
      acc now = team.largest[r];
#pragma unroll
      for (int b = 0; b < Team::batch; b++) now = max(now, weight[r][b]);
      acc base = now == no_number() ? 0 : now, shrink = power_of_two(team.largest[r] - base);
      team.largest[r] = now;
      team.total[r] *= shrink;
#pragma unroll
      for (int b = 0; b < Team::batch; b++) {
        weight[r][b] = power_of_two(weight[r][b] - base);
        team.total[r] += weight[r][b];
      }
#pragma unroll
      for (int i = 0; i < N; i++) team.sum[r][i] *= shrink;
    }
#pragma unroll
    for (int b = 0; b < Team::batch; b++)
#pragma unroll
      for (int i = 0; i < N; i++) {
        acc x = widen(values[b][i / V].at[i % V]);
#pragma unroll
        for (int r = 0; r < R; r++) team.sum[r][i] += weight[r][b] * x;
      }
  }

  // The teams of a warp, then the warps.
#pragma unroll
  for (int bits = Team::lanes; bits < 32; bits *= 2)
#pragma unroll
    for (int r = 0; r < R; r++) {
      acc theirs[N];
#pragma unroll
      for (int i = 0; i < N; i++) theirs[i] = __shfl_xor_sync(~0u, team.sum[r][i], bits);
      team.merge(r, __shfl_xor_sync(~0u, team.largest[r], bits), __shfl_xor_sync(~0u, team.total[r], bits), theirs);
    }
  __shared__ acc sums[Team::warps][R][D];
  __shared__ acc2 of[Team::warps][R];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < Team::lanes) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      if (lane == 0) of[warp][r] = {team.largest[r], team.total[r]};
#pragma unroll
      for (int i = 0; i < N; i++) sums[warp][r][(lane + i / V * Team::lanes) * V + i % V] = team.sum[r][i];
    }
  }
  __syncthreads();
  attention_parts<D> parts{memory, (int)gridDim.y, (long long)(gridDim.x / groups) * rows};
  for (int i = threadIdx.x; i < there * D; i += attention_threads) {
    int r = i / D, column = i % D;
    acc base = no_number(), total = 0, sum = 0;
#pragma unroll
    for (int w = 0; w < Team::warps; w++) base = max(base, of[w][r].x);
    if (base == no_number()) base = 0; // there are no keys in this part
#pragma unroll
    for (int w = 0; w < Team::warps; w++) {
      acc counts = power_of_two(of[w][r].x - base);
      total += of[w][r].y * counts;
      sum += sums[w][r][column] * counts;
    }
    if (gridDim.y == 1) {
      if (column < d) out[(first_row + r) * d + column] = narrow(sum / total);
      continue;
    }
    parts.sums(blockIdx.y, first_row + r)[column] = sum;
    if (column == 0) *parts.weights(blockIdx.y, first_row + r) = {base, total};
  }
}

// The blocks that an SM runs at once: they keep enough reads on their way.
static const int decode_blocks = sizeof(elem) == 8 ? 2 : 3;

#define DECODE(R, D)                                                                                                \
  KERNEL __launch_bounds__(attention_threads, decode_blocks) decode_##R##x##D(elem *out, acc *memory, const elem *q, const elem *k, \
                                                               const elem *v, int rows, int sk, int d, acc factor) { \
    decode<R, D>(out, memory, q, k, v, rows, sk, d, factor);                                                         \
  }
DECODE(1, 64) DECODE(1, 128) DECODE(1, 256) DECODE(4, 64) DECODE(4, 128) DECODE(4, 256)

// join adds the parts of each row up, as attention and decode have left them, a thread a column. The
// lanes of a warp have to do with one row: each weighs one of 32 parts for all.
template <int D>
__device__ inline void join(elem *out, acc *memory, int parts, long long rows, int d) {
  static_assert(D % 32 == 0, "a warp a row");
  attention_parts<D> of{memory, parts, rows};
  const long long i = blockIdx.x * (long long)attention_threads + threadIdx.x, row = i / D;
  const int column = i % D, lane = threadIdx.x % 32;
  if (row >= rows) return;
  // A part of which the row sees nothing has no weights.
  acc base = no_number(), total = 0, sum = 0;
  for (int p = lane; p < parts; p += 32)
    if (of.weights(p, row)->y > 0) base = max(base, of.weights(p, row)->x);
  base = largest_over<32>(base);
  for (int first = 0; first < parts; first += 32) {
    acc2 w = first + lane < parts ? *of.weights(first + lane, row) : acc2{0, 0};
    acc counts = w.y > 0 ? power_of_two(w.x - base) : 0;
    total += w.y * counts;
    const int here = min(32, parts - first);
#pragma unroll 8
    for (int p = 0; p < here; p++) sum += __shfl_sync(~0u, counts, p) * of.sums(first + p, row)[column];
  }
  total = sum_over<32>(total);
  if (column < d) out[row * d + column] = narrow(sum / total);
}

#define JOIN(D)                                                                                                       \
  KERNEL __launch_bounds__(attention_threads) join_##D(elem *out, acc *memory, int parts, long long rows, int d) { \
    join<D>(out, memory, parts, rows, d);                                                                            \
  }
JOIN(64) JOIN(128) JOIN(256)
