/* A kernel that main.c runs on pinned threads. */
struct kernel {
	const char *kind, *dtype;
	/* prepare is called by each thread before the first run, with the size of the
	 * case: what the thread first writes is near it. It may be NULL. */
	void (*prepare)(long size, int thread, int threads);
	void (*run)(long size, int thread, int threads);
};

/* Each table ends with a kernel without a name. */
extern const struct kernel streams[], peaks[];
