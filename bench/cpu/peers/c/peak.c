/* Register peaks in intrinsics: x <- 0.5 x + 1 in 12 accumulators, `size` FLOP a
 * thread. */
#include "peer.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define EACH(do, with) do(0, with) do(1, with) do(2, with) do(3, with) do(4, with) do(5, with) \
	do(6, with) do(7, with) do(8, with) do(9, with) do(10, with) do(11, with)
#define START(i, set1) x##i = set1(i),
#define STEP(i, fma) x##i = fma(x##i, half, one);
/* So that the compiler cannot drop the steps. */
#define KEEP(i, unused) __asm__ volatile("" : : "v"(x##i));

#define PEAK(name, vector, set1, fma)                                              \
	static void name(long size, int thread, int threads) {                     \
		(void)thread, (void)threads;                                       \
		const long lanes = sizeof(vector) / sizeof(set1(0)[0]);            \
		vector EACH(START, set1) half = set1(0.5), one = set1(1);          \
		for (long i = size / (2 * 12 * lanes); i > 0; i--) { EACH(STEP, fma) } \
		EACH(KEEP, )                                                       \
	}

#ifdef __AVX512F__
PEAK(avx512_fp32, __m512, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK(avx512_fp64, __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
#endif
#if defined(__AVX2__) && defined(__FMA__)
PEAK(avx2_fp32, __m256, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK(avx2_fp64, __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
#endif
#endif

const struct kernel peaks[] = {
#ifdef __AVX512F__
	{"peak_avx512", "fp32", 0, avx512_fp32}, {"peak_avx512", "fp64", 0, avx512_fp64},
#endif
#if defined(__AVX2__) && defined(__FMA__)
	{"peak_avx2", "fp32", 0, avx2_fp32}, {"peak_avx2", "fp64", 0, avx2_fp64},
#endif
	{0},
};
