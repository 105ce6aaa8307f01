//go:build linux && amd64 && cgo

#include "execute.h"

#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>

static struct sigaction go_ill, go_segv;

/* Where an emulated instruction goes that touches memory it must not. */
static __thread struct {
	volatile bool armed;
	siginfo_t info;
	sigjmp_buf back;
} fault;

/* All calculations run like those of BF16, which treat denormal floats as zero;
 * those of FP16 do not meet any. The kernel restores the MXCSR of the thread. */
enum { MXCSR_DEFAULT = 0x1F80, MXCSR_FLUSH = MXCSR_DEFAULT | 0x8040 };

static bool emulate(ucontext_t *uc) {
	struct frame f;
	struct insn in;
	if (!frame_open(&f, uc) || !decode(&in, &f))
		return false;
	_mm_setcsr(MXCSR_FLUSH);
	bool done = execute(&in, &f);
	_mm_setcsr(MXCSR_DEFAULT);
	if (done)
		f.general[REG_RIP] += in.length;
	return done;
}

static void on_ill(int signal, siginfo_t *info, void *uc) {
	if (sigsetjmp(fault.back, 0)) {
		go_segv.sa_sigaction(SIGSEGV, &fault.info, uc);
		return;
	}
	fault.armed = true;
	bool done = emulate(uc);
	fault.armed = false;
	if (!done)
		go_ill.sa_sigaction(signal, info, uc);
}

/* on_segv makes a fault of the emulation one of the emulated instruction. */
static void on_segv(int signal, siginfo_t *info, void *uc) {
	if (!fault.armed) {
		go_segv.sa_sigaction(signal, info, uc);
		return;
	}
	fault.armed = false;
	fault.info = *info;
	_mm_setcsr(MXCSR_DEFAULT);
	siglongjmp(fault.back, 1);
}

/* emulate_install puts the handlers before those of the Go runtime. */
int emulate_install(void) {
	struct sigaction ill = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigfillset(&ill.sa_mask);
	struct sigaction segv = ill;
	ill.sa_sigaction = on_ill;
	segv.sa_sigaction = on_segv;
	sigdelset(&ill.sa_mask, SIGSEGV);

	if (sigaction(SIGSEGV, NULL, &go_segv) || sigaction(SIGILL, NULL, &go_ill))
		return -1;
	return sigaction(SIGSEGV, &segv, NULL) || sigaction(SIGILL, &ill, NULL) ? -1 : 0;
}
