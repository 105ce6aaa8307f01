// CUDA C as C++ for the host, with which the tests run kernels without a device. A unit is
// compiled with this header into a library of its own.
//
// Blocks run one after the other, the threads of a block as fibers, each until it waits for
// others: at a barrier, or for the lanes of its warp. Who goes on next is random, so that a
// kernel that lacks a barrier is likely to be wrong. Shared memory holds NaN when a block
// begins. Copies by cp.async happen when they are waited for, no sooner. A fault, and a
// barrier that not all reach, end the launch with a text.
#pragma once
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <pthread.h>
#include <type_traits>
#include <utility>

// The attribute is how the driver finds kernels.
#undef KERNEL
#define KERNEL [[gnu::used]] void
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __constant__ static
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
#define DYNAMIC_SHARED(type, name) type *const name = (type *)emulated_dynamic

// ---- fibers

struct emulated_dim { unsigned x, y, z; };
static emulated_dim threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

enum emulated_state { emulated_ready, emulated_at_block, emulated_at_warp, emulated_done };

struct emulated_copy { void *to; const void *from; int group; };

struct emulated_fiber {
  jmp_buf at;
  bool begun;
  emulated_state state;
  emulated_dim thread;
  // Waiting for lanes of its warp:
  void *mine;           // its operand
  void (*whole)();      // what they do together
  unsigned mask;
  // cp.async:
  emulated_copy copies[512];
  int pending, groups;
};

static const int emulated_most = 1024; // threads of a block
static const long emulated_stack = 128 << 10;
static const long emulated_page = 64 << 10; // a multiple of that of any system
static const long emulated_shared_most = 256 << 10;

static emulated_fiber emulated_fibers[emulated_most];
static int emulated_threads, emulated_alive, emulated_waiting, emulated_now;
static int emulated_queue[emulated_most], emulated_queued;
static unsigned long long emulated_random;
static unsigned emulated_mask; // lanes of a collective operation, while it is done
static char *emulated_stacks, *emulated_shared_end;
static int emulated_guards; // pages without access, one before each stack
static unsigned char *emulated_dynamic;
static long emulated_shared_bytes;
static jmp_buf emulated_scheduler;
static sigjmp_buf emulated_end;
static pthread_t emulated_thread;
static struct sigaction emulated_before[2];
static char emulated_error[512];
static void (*emulated_body)(const unsigned long long *);
static const unsigned long long *emulated_args;

// emulated_fail ends the launch.
[[noreturn]] static void emulated_fail(const char *what) {
  int n = snprintf(emulated_error, sizeof emulated_error, "%s, block (%u, %u, %u) thread (%u, %u, %u)", what,
                   blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  (void)n;
  siglongjmp(emulated_end, 1);
}

static void emulated_fault(int signal, siginfo_t *info, void *) {
  if (!pthread_equal(pthread_self(), emulated_thread)) { // of another thread, which is none of our business
    sigaction(SIGSEGV, &emulated_before[0], nullptr);
    sigaction(SIGBUS, &emulated_before[1], nullptr);
    return;
  }
  char text[64];
  snprintf(text, sizeof text, "illegal address %p", info->si_addr);
  emulated_fail(text);
}

static __attribute__((noinline)) void emulated_yield() {
  if (!_setjmp(emulated_fibers[emulated_now].at)) _longjmp(emulated_scheduler, 1);
}

static void emulated_wake(int i) {
  emulated_fibers[i].state = emulated_ready;
  emulated_queue[emulated_queued++] = i;
}

static void emulated_wake_block() {
  for (int i = 0; i < emulated_threads; i++)
    if (emulated_fibers[i].state == emulated_at_block) emulated_wake(i);
  emulated_waiting = 0;
}

static void emulated_main() {
  for (;;) {
    emulated_body(emulated_args);
    emulated_fibers[emulated_now].state = emulated_done;
    emulated_alive--;
    if (emulated_alive && emulated_waiting == emulated_alive) emulated_wake_block();
    emulated_yield();
  }
}

static __attribute__((noinline)) void emulated_resume(int i) {
  emulated_fiber &f = emulated_fibers[i];
  emulated_now = i;
  threadIdx = f.thread;
  if (_setjmp(emulated_scheduler)) return;
  if (f.begun) _longjmp(f.at, 1);
  f.begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = emulated_stacks + i * (emulated_stack + emulated_page) + emulated_page;
  context.uc_stack.ss_size = emulated_stack;
  context.uc_link = nullptr;
  makecontext(&context, emulated_main, 0);
  setcontext(&context);
}

// The __shared__ variables, which the driver finds in the symbols of the library.
struct emulated_variable { char *at; long bytes; };
static emulated_variable emulated_variables[256];
static int emulated_variable_count;

static void emulated_block() {
  memset(emulated_dynamic, 0xff, emulated_shared_end - (char *)emulated_dynamic);
  for (int i = 0; i < emulated_variable_count; i++) memset(emulated_variables[i].at, 0xff, emulated_variables[i].bytes);
  emulated_alive = emulated_threads;
  emulated_waiting = emulated_queued = 0;
  for (int i = 0; i < emulated_threads; i++) {
    emulated_fiber &f = emulated_fibers[i];
    unsigned n = i;
    f.thread = {n % blockDim.x, n / blockDim.x % blockDim.y, n / blockDim.x / blockDim.y};
    f.pending = f.groups = 0;
    emulated_wake(i);
  }
  while (emulated_queued) {
    emulated_random = emulated_random * 6364136223846793005u + 1442695040888963407u;
    int at = (emulated_random >> 33) % emulated_queued, next = emulated_queue[at];
    emulated_queue[at] = emulated_queue[--emulated_queued];
    emulated_resume(next);
  }
  if (emulated_alive) {
    char text[128];
    snprintf(text, sizeof text, "deadlock: of %d threads %d have ended, %d wait at a barrier, %d for their warp", emulated_threads,
             emulated_threads - emulated_alive, emulated_waiting, emulated_alive - emulated_waiting);
    emulated_fail(text);
  }
  for (const unsigned char *p = emulated_dynamic + emulated_shared_bytes; p < (unsigned char *)emulated_shared_end; p++)
    if (*p != 0xff) emulated_fail("dynamic shared memory written behind its end");
}

static const char *emulated_launch(void (*body)(const unsigned long long *), int parameters, const unsigned long long *args, int given,
                                   const int *grid, long shared, unsigned long long seed) {
  if (given != parameters) {
    snprintf(emulated_error, sizeof emulated_error, "%d arguments, want %d", given, parameters);
    return emulated_error;
  }
  const long one = emulated_stack + emulated_page;
  if (!emulated_stacks) {
    const long all = emulated_most * one + emulated_page;
    emulated_stacks = (char *)mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *memory = (char *)mmap(nullptr, emulated_shared_most + emulated_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    emulated_shared_end = memory + emulated_shared_most;
    mprotect(emulated_shared_end, emulated_page, PROT_NONE);
  }
  // A system has only so many mappings for all libraries: as few as there are threads.
  for (; emulated_guards <= grid[3] * grid[4] * grid[5]; emulated_guards++)
    mprotect(emulated_stacks + emulated_guards * one, emulated_page, PROT_NONE);
  emulated_body = body;
  emulated_args = args;
  emulated_random = seed;
  gridDim = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
  blockDim = {(unsigned)grid[3], (unsigned)grid[4], (unsigned)grid[5]};
  emulated_threads = grid[3] * grid[4] * grid[5];
  emulated_shared_bytes = shared;
  emulated_dynamic = (unsigned char *)emulated_shared_end - (shared + 1023) / 1024 * 1024;
  emulated_error[0] = 0;
  emulated_thread = pthread_self();
  struct sigaction fault = {};
  fault.sa_sigaction = emulated_fault;
  fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &fault, &emulated_before[0]);
  sigaction(SIGBUS, &fault, &emulated_before[1]);
  if (!sigsetjmp(emulated_end, 1)) {
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
      for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) emulated_block();
  } else {
    for (int i = 0; i < emulated_most; i++) emulated_fibers[i].begun = false; // they are anywhere
  }
  sigaction(SIGSEGV, &emulated_before[0], nullptr);
  sigaction(SIGBUS, &emulated_before[1], nullptr);
  return emulated_error;
}

// What the driver calls, beside a function for each kernel.
#define EMULATED_EXPORT extern "C" __attribute__((visibility("default")))
EMULATED_EXPORT char emulated_origin = 0; // an address by which to find others
EMULATED_EXPORT void emulated_add_variable(char *at, long bytes) {
  if (emulated_variable_count == sizeof emulated_variables / sizeof *emulated_variables) abort();
  emulated_variables[emulated_variable_count++] = {at, bytes};
}

// emulated_kernel<k>::call takes each parameter of k from the lowest bytes of its argument.
template <auto k> struct emulated_kernel;
template <typename... P, void (*k)(P...)>
struct emulated_kernel<k> {
  static constexpr int parameters = sizeof...(P);
  template <size_t... i>
  static void with(const unsigned long long *args, std::index_sequence<i...>) {
    static_assert(((sizeof(P) <= sizeof *args) && ...), "a parameter of more than 8 bytes");
    k(*(const P *)(args + i)...);
  }
  static void call(const unsigned long long *args) { with(args, std::index_sequence_for<P...>()); }
};

// ---- what threads do together

inline void __syncthreads() {
  emulated_fiber &f = emulated_fibers[emulated_now];
  if (++emulated_waiting == emulated_alive) {
    emulated_wake_block();
    emulated_wake(emulated_now);
  } else {
    f.state = emulated_at_block;
  }
  emulated_yield();
}

// emulated_warp waits until the lanes of the mask are at the same operation; the last does it,
// with the operands of all by lane, and the others go on.
template <typename T>
void emulated_warp(T mine, void (*whole)(T *lanes), unsigned mask = ~0u) {
  int first = emulated_now / 32 * 32, lane = emulated_now % 32;
  emulated_fiber &f = emulated_fibers[emulated_now];
  if (!(mask >> lane & 1)) emulated_fail("a lane outside of its own mask");
  f.mine = &mine;
  f.whole = (void (*)())whole;
  f.mask = mask;
  f.state = emulated_at_warp;
  T lanes[32] = {};
  for (int i = 0; i < 32; i++) {
    emulated_fiber &o = emulated_fibers[first + i];
    if (!(mask >> i & 1) || first + i >= emulated_threads) continue;
    if (o.state != emulated_at_warp || o.whole != f.whole || o.mask != mask) {
      emulated_yield();
      return;
    }
    lanes[i] = *(T *)o.mine;
  }
  emulated_mask = mask;
  whole(lanes);
  for (int i = 0; i < 32; i++)
    if (mask >> i & 1 && first + i < emulated_threads) emulated_wake(first + i);
  emulated_yield();
}

inline void __syncwarp(unsigned mask = ~0u) {
  emulated_warp<char>(0, [](char *) {}, mask);
}

template <typename T>
struct emulated_shuffle { T value, *result; int from; };

// emulated_from takes the value of lane `from`, or its own where that is no lane of its segment.
template <typename T>
T emulated_from(unsigned mask, T value, int from, bool inside) {
  T result;
  emulated_warp<emulated_shuffle<T>>({value, &result, inside ? from : emulated_now % 32}, [](emulated_shuffle<T> *lanes) {
    for (int i = 0; i < 32; i++)
      if (lanes[i].result) {
        if (!lanes[lanes[i].from].result) emulated_fail("shuffle from a lane that takes no part");
        *lanes[i].result = lanes[lanes[i].from].value;
      }
  }, mask);
  return result;
}
template <typename T>
T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
  return emulated_from(mask, v, emulated_now % 32 / width * width + from % width, true);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32) {
  int lane = emulated_now % 32, from = lane ^ bits;
  return emulated_from(mask, v, from, from < lane / width * width + width);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {
  int lane = emulated_now % 32, from = lane + by;
  return emulated_from(mask, v, from, from < lane / width * width + width);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {
  int lane = emulated_now % 32, from = lane - (int)by;
  return emulated_from(mask, v, from, from >= lane / width * width);
}

template <typename T>
struct emulated_vote { T value, *result; };

template <typename T, T (*two)(T, T)>
T emulated_reduce(unsigned mask, T value) {
  T result;
  emulated_warp<emulated_vote<T>>({value, &result}, [](emulated_vote<T> *lanes) {
    T all = T();
    bool first = true;
    for (int i = 0; i < 32; i++)
      if (lanes[i].result) {
        all = first ? lanes[i].value : two(all, lanes[i].value);
        first = false;
      }
    for (int i = 0; i < 32; i++)
      if (lanes[i].result) *lanes[i].result = all;
  }, mask);
  return result;
}
template <typename T> T emulated_add(T a, T b) { return a + b; }
template <typename T> T emulated_max(T a, T b) { return a > b ? a : b; }
template <typename T> T emulated_min(T a, T b) { return a < b ? a : b; }
template <typename T> T emulated_or(T a, T b) { return a | b; }
template <typename T> T __reduce_add_sync(unsigned mask, T v) { return emulated_reduce<T, emulated_add>(mask, v); }
template <typename T> T __reduce_max_sync(unsigned mask, T v) { return emulated_reduce<T, emulated_max>(mask, v); }
template <typename T> T __reduce_min_sync(unsigned mask, T v) { return emulated_reduce<T, emulated_min>(mask, v); }
inline unsigned __ballot_sync(unsigned mask, int p) {
  return emulated_reduce<unsigned, emulated_or>(mask, p ? 1u << emulated_now % 32 : 0u);
}
inline int __any_sync(unsigned mask, int p) { return emulated_reduce<int, emulated_or>(mask, p != 0); }
inline int __all_sync(unsigned mask, int p) { return !__any_sync(mask, !p); }

// ---- memory

inline void emulated_copy_async(void *shared, const void *global) {
  emulated_fiber &f = emulated_fibers[emulated_now];
  if (((unsigned long long)shared | (unsigned long long)global) % 16) emulated_fail("cp.async at no multiple of 16 bytes");
  if (f.pending == sizeof f.copies / sizeof *f.copies) emulated_fail("more copies by cp.async than are emulated");
  memset(shared, 0xff, 16);
  f.copies[f.pending++] = {shared, global, f.groups};
}
inline void emulated_copy_commit() { emulated_fibers[emulated_now].groups++; }
inline void emulated_copy_wait(int but) {
  emulated_fiber &f = emulated_fibers[emulated_now];
  int done = 0;
  for (; done < f.pending && f.copies[done].group < f.groups - but; done++) {
    if (f.copies[done].from) memcpy(f.copies[done].to, f.copies[done].from, 16);
    else memset(f.copies[done].to, 0, 16);
  }
  f.pending -= done;
  memmove(f.copies, f.copies + done, f.pending * sizeof *f.copies);
}

template <typename T, typename V> T atomicAdd(T *p, V v) { T old = *p; *p = old + (T)v; return old; }
template <typename T, typename V> T atomicMax(T *p, V v) { T old = *p; if ((T)v > old) *p = (T)v; return old; }
template <typename T, typename V> T atomicExch(T *p, V v) { T old = *p; *p = (T)v; return old; }
template <typename T, typename V> T atomicCAS(T *p, V is, V v) { T old = *p; if (old == (T)is) *p = (T)v; return old; }
inline void __threadfence() {}
inline void __threadfence_block() {}

template <typename T> T __ldg(const T *p) { return *p; }
template <typename T> T __ldcs(const T *p) { return *p; }
template <typename T> T __ldcg(const T *p) { return *p; }
template <typename T> void __stcs(T *p, T v) { *p = v; }
template <typename T> void __stcg(T *p, T v) { *p = v; }

// ---- types and functions

#define EMULATED_VECTORS(type, name, two, four)                                                 \
  struct alignas(two) name##2 { type x, y; };                                                   \
  struct alignas(four) name##4 { type x, y, z, w; };                                            \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                              \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATED_VECTORS(float, float, 8, 16)
EMULATED_VECTORS(int, int, 8, 16)
EMULATED_VECTORS(unsigned, uint, 8, 16)
EMULATED_VECTORS(double, double, 16, 16)
EMULATED_VECTORS(signed char, char, 2, 4)
EMULATED_VECTORS(unsigned char, uchar, 2, 4)
EMULATED_VECTORS(short, short, 4, 8)
EMULATED_VECTORS(unsigned short, ushort, 4, 8)
EMULATED_VECTORS(long long, longlong, 16, 16)
EMULATED_VECTORS(unsigned long long, ulonglong, 16, 16)

template <typename To, typename From>
To emulated_bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &v, sizeof to);
  return to;
}
inline unsigned __float_as_uint(float v) { return emulated_bits<unsigned>(v); }
inline int __float_as_int(float v) { return emulated_bits<int>(v); }
inline float __uint_as_float(unsigned v) { return emulated_bits<float>(v); }
inline float __int_as_float(int v) { return emulated_bits<float>(v); }
inline long long __double_as_longlong(double v) { return emulated_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return emulated_bits<double>(v); }
// As (float) of a _Float16 does, which calls a function of the compiler's library.
inline float emulated_half_to_float(unsigned short v) {
  unsigned digits = (v & 0x7fffu) << 13;
  float x = digits >= 31u << 23 ? emulated_bits<float>(digits | 0xffu << 23) : emulated_bits<float>(digits) * 0x1p112f;
  return v >> 15 ? -x : x;
}
inline unsigned short emulated_float_to_half(float v) { return emulated_bits<unsigned short>((_Float16)v); }
inline float emulated_e4m3_to_float(unsigned char v) {
  int exponent = v >> 3 & 15, digits = v & 7;
  float x = (v & 0x7f) == 0x7f ? NAN : exponent ? ldexpf(8 + digits, exponent - 10) : ldexpf(digits, -9);
  return v >> 7 ? -x : x;
}

template <typename A, typename B> std::common_type_t<A, B> max(A a, B b) { return a > b ? a : b; }
template <typename A, typename B> std::common_type_t<A, B> min(A a, B b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
// Functions of libc have the names of these.
#define __expf expf
#define __logf logf
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline int __float2int_rn(float x) { return (int)rintf(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
  return c;
}
[[noreturn]] inline void __trap() { emulated_fail("trap"); }

inline unsigned long long nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}
inline unsigned long long cycles() { return nanoseconds() * 2; } // as if at 2 GHz
inline int sm_number() { return blockIdx.x; }
