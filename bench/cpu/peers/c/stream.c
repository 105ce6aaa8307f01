/* Bandwidth kernels as a C programmer writes them. Each thread works on its own
 * part of arrays of `size` doubles in all, parts of whole vectors. */
#define _GNU_SOURCE
#include "peer.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static double *a, *b, *c;
static volatile uint64_t checksum; /* keeps the result of reading */

/* The offset of an array keeps the streams of a kernel apart: at one distance from the beginning of a page all would
 * compete for the same sets and banks. STREAM has an OFFSET for that. */
static void map(double **p, long size, long offset) {
	*p = mmap(NULL, (size + offset) * sizeof **p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*p == MAP_FAILED) abort();
	madvise(*p, (size + offset) * sizeof **p, MADV_HUGEPAGE);
	*p += offset;
}

static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

/* All kernels share the arrays: a process is asked for one size only. */
static void prepare(long size, int thread, int threads) {
	pthread_mutex_lock(&mapping);
	if (!a) map(&a, size, 0), map(&b, size, 8 * 200), map(&c, size, 8 * 410);
	pthread_mutex_unlock(&mapping);
	for (long i = size * thread / threads; i < size * (thread + 1) / threads; i++) a[i] = 1 + i % 7, b[i] = 2, c[i] = 0;
}

#define KERNEL(name, body)                                                                     \
	static void name(long size, int thread, int threads) {                                 \
		const double s = 3.0;                                                          \
		(void)s;                                                                       \
		for (long i = size * thread / threads, n = size * (thread + 1) / threads; i < n; i++) body; \
	}

KERNEL(fill, c[i] = s)
KERNEL(copy, c[i] = a[i])
KERNEL(scale, c[i] = s * a[i])
KERNEL(add, c[i] = a[i] + b[i])
KERNEL(triad, c[i] = a[i] + s * b[i])

#if defined(__x86_64__)
#include <immintrin.h>

/* A compiler does not write past the caches by itself. */
#if defined(__AVX512F__)
typedef __m512d vector;
#define LOAD _mm512_loadu_pd
#define SET1 _mm512_set1_pd
#define STORE _mm512_stream_pd
#elif defined(__AVX__)
typedef __m256d vector;
#define LOAD _mm256_loadu_pd
#define SET1 _mm256_set1_pd
#define STORE _mm256_stream_pd
#else
typedef __m128d vector;
#define LOAD _mm_loadu_pd
#define SET1 _mm_set1_pd
#define STORE _mm_stream_pd
#endif

#define KERNEL_NT(name, value)                                                                            \
	static void name(long size, int thread, int threads) {                                            \
		const vector s = SET1(3.0);                                                               \
		const long lanes = sizeof(vector) / sizeof(double);                                       \
		(void)s;                                                                                  \
		for (long i = size * thread / threads, n = size * (thread + 1) / threads; i < n; i += lanes) STORE(c + i, value); \
		_mm_sfence();                                                                             \
	}

KERNEL_NT(fill_nt, s)
KERNEL_NT(copy_nt, LOAD(a + i))
KERNEL_NT(triad_nt, LOAD(a + i) + s * LOAD(b + i))
#endif

/* The sum is one of integers, which a compiler may reorder. */
static void load(long size, int thread, int threads) {
	const uint64_t *bits = (const uint64_t *)a;
	uint64_t sum = 0;
	for (long i = size * thread / threads, n = size * (thread + 1) / threads; i < n; i++) sum += bits[i];
	checksum = sum;
}

const struct kernel streams[] = {
	{"read", "fp64", prepare, load}, {"write", "fp64", prepare, fill},   {"copy", "fp64", prepare, copy},
	{"scale", "fp64", prepare, scale}, {"add", "fp64", prepare, add}, {"triad", "fp64", prepare, triad},
#if defined(__x86_64__)
	{"write_nt", "fp64", prepare, fill_nt}, {"copy_nt", "fp64", prepare, copy_nt}, {"triad_nt", "fp64", prepare, triad_nt},
#endif
	{0},
};
