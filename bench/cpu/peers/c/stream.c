/* The four kernels of STREAM as a C programmer writes them, for the side-by-side
 * benchmark: cc -O3 -pthread stream.c; ./a.out ELEMENTS ROUNDS CPU...
 * One pinned thread a CPU works on its own part of arrays of ELEMENTS doubles in
 * all, which it wrote first. Prints the best rate of each kernel in GB/s by
 * STREAM's count of bytes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double *a, *b, *c;
static long n, rounds, threads;
static pthread_barrier_t barrier;
static double best[4];

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void kernel(int which, long lo, long hi) {
	const double s = 3.0;
	switch (which) {
	case 0: for (long i = lo; i < hi; i++) c[i] = a[i]; break;
	case 1: for (long i = lo; i < hi; i++) b[i] = s * c[i]; break;
	case 2: for (long i = lo; i < hi; i++) c[i] = a[i] + b[i]; break;
	case 3: for (long i = lo; i < hi; i++) a[i] = b[i] + s * c[i]; break;
	}
}

struct worker { long id; int cpu; };

static void *work(void *arg) {
	struct worker *w = arg;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set)) perror("sched_setaffinity"), exit(1);
	long lo = n * w->id / threads, hi = n * (w->id + 1) / threads;
	for (long i = lo; i < hi; i++) a[i] = 1 + i % 7, b[i] = 2, c[i] = 0;
	static const double bytes[4] = {16, 16, 24, 24};
	for (long r = 0; r < rounds; r++)
		for (int k = 0; k < 4; k++) {
			pthread_barrier_wait(&barrier);
			double begin = now();
			kernel(k, lo, hi);
			pthread_barrier_wait(&barrier);
			double rate = bytes[k] * n / (now() - begin) / 1e9;
			if (w->id == 0 && rate > best[k]) best[k] = rate;
		}
	return NULL;
}

static double *array(void) {
	double *p = mmap(NULL, n * sizeof *p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) perror("mmap"), exit(1);
	madvise(p, n * sizeof *p, MADV_HUGEPAGE);
	return p;
}

int main(int argc, char **argv) {
	if (argc < 4) return fprintf(stderr, "usage: %s ELEMENTS ROUNDS CPU...\n", argv[0]), 2;
	n = atol(argv[1]), rounds = atol(argv[2]), threads = argc - 3;
	a = array(), b = array(), c = array();
	pthread_barrier_init(&barrier, NULL, threads);
	pthread_t ids[threads];
	struct worker ws[threads];
	for (long t = 0; t < threads; t++) {
		ws[t] = (struct worker){t, atoi(argv[3 + t])};
		pthread_create(&ids[t], NULL, work, &ws[t]);
	}
	for (long t = 0; t < threads; t++) pthread_join(ids[t], NULL);
	printf("%.3f %.3f %.3f %.3f\n", best[0], best[1], best[2], best[3]);
	return a[n / 2] < 0; /* the results are used */
}
