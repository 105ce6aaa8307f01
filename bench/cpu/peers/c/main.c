/* Plain C as a peer; the requests are described in doc.go. One thread for each
 * CPU that the process may use, bound to it. A kernel shares nothing between
 * threads, so that only the beginning of a batch is synchronised; the time of a
 * batch lasts from the earliest start to the latest end, as on our side. (Ours
 * does so for each class of cores in a peak: compare that within a class.) */
#define _GNU_SOURCE
#include "peer.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 1024
static int threads, cpus[MOST];
static double begin[MOST], end[MOST];
static pthread_barrier_t barrier; /* waits without spinning */
static atomic_int ready;
static const struct kernel *kernel;
static long size, times; /* times is 0 to prepare */

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void work(int id) {
	pthread_barrier_wait(&barrier);
	if (times == 0) {
		if (kernel->prepare) kernel->prepare(size, id, threads);
	} else {
		atomic_fetch_add(&ready, 1);
		while (atomic_load(&ready) < threads) sched_yield();
		begin[id] = now();
		for (long i = 0; i < times; i++) kernel->run(size, id, threads);
		end[id] = now();
	}
	pthread_barrier_wait(&barrier);
}

static void pin(int id) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpus[id], &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void *worker(void *id) {
	pin((int)(long)id);
	for (;;) work((int)(long)id);
	return NULL;
}

/* batch returns the seconds of n executions. */
static double batch(long n) {
	times = n, ready = 0;
	work(0);
	double first = begin[0], last = end[0];
	for (int i = 0; i < threads; i++) {
		if (begin[i] < first) first = begin[i];
		if (end[i] > last) last = end[i];
	}
	return last - first;
}

static const struct kernel *find(const struct kernel *k, const char *kind, const char *dtype) {
	for (; k->kind; k++)
		if (!strcmp(k->kind, kind) && !strcmp(k->dtype, dtype)) return k;
	return NULL;
}

int main(void) {
	cpu_set_t set;
	sched_getaffinity(0, sizeof set, &set);
	for (int cpu = 0; cpu < MOST; cpu++)
		if (CPU_ISSET(cpu, &set)) cpus[threads++] = cpu;
	pthread_barrier_init(&barrier, NULL, threads);
	for (int i = 1; i < threads; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, worker, (void *)(long)i)) return puts("error no thread"), 0;
	}
	pin(0);
	printf("ok C, compiled by cc -O3 -march=native (%s)\n", __VERSION__);
	fflush(stdout);
	char line[1 << 16], kind[64], dtype[64];
	long n;
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "open %63s %63s %ld", kind, dtype, &n) == 3) {
			const struct kernel *k = find(streams, kind, dtype);
			if (!k) k = find(peaks, kind, dtype);
			if (k) kernel = k, size = n, batch(0);
			puts(k ? "ok" : "unsupported");
		} else if (sscanf(line, "run %ld", &n) == 1) {
			batch(n); /* untimed; see doc.go */
			printf("ok %.9f\n", batch(n));
		} else {
			puts("error not understood");
		}
		fflush(stdout);
	}
	return 0;
}
