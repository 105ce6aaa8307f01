// A libcuda.so.1 for tests: memory of the device is memory of the host at other addresses,
// a kernel writes its arguments down. Every call checks what it is given, and answers
// CUDA_ERROR_INVALID_VALUE or _CONTEXT to what a driver could not use. With -DCUDA_H the compiler compares it
// with the real declarations. With -DOLD it is a driver before CUDA 11.4.
#ifdef CUDA_H
#include <cuda.h>
#else
#include <stddef.h>
typedef int CUresult, CUdevice, CUdevice_attribute, CUfunction_attribute, CUjit_option, CUstreamCaptureMode;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct { char bytes[16]; } CUuuid;
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, UNMATCHED = 903, WRONG_THREAD = 908 };

// What a test reads and sets.
static char log_text[1 << 16];
static char failing[64];
static int failing_with;

const char *stub_log(void) { return log_text; }
void stub_clear(void) { log_text[0] = 0; }
// stub_fail makes the next call of a function fail.
void stub_fail(const char *call, int code) {
  snprintf(failing, sizeof failing, "%s", call);
  failing_with = code;
}

static void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t used = strlen(log_text);
  vsnprintf(log_text + used, sizeof log_text - used, format, args);
  va_end(args);
}

static int fails(const char *call) {
  if (strcmp(call, failing)) return 0;
  failing[0] = 0;
  return failing_with;
}

// Handles are addresses that use all bits of a pointer.
#define HANDLE(type, n) ((type)(0x7e00123456780000ull + (n)))
#define CONTEXT HANDLE(CUcontext, 1)
#define STREAM HANDLE(CUstream, 2)
#define EVENT(n) HANDLE(CUevent, 16 + (n))
#define MODULE HANDLE(CUmodule, 3)
#define FUNCTION HANDLE(CUfunction, 4)
#define GRAPH HANDLE(CUgraph, 5)
#define EXECUTABLE HANDLE(CUgraphExec, 6)
#define DEVICE 7 // the handle of device 1

static __thread CUcontext current;
static int streams, events, contexts, graphs, executables;
static long blocks; // of memory
static pthread_t capturing;
static int in_capture;

#define CALL(name) do { int code = fails(#name); note("%s\n", #name); if (code) return code; } while (0)
#define NEED(condition) do { if (!(condition)) { note("  bad: %s\n", #condition); return INVALID_VALUE; } } while (0)
#define NEED_CONTEXT() do { if (current != CONTEXT) { note("  no context\n"); return INVALID_CONTEXT; } } while (0)

// Memory of the device has the top bits of the address set.
#define TAG 0xa000000000000000ull
static int on_device(CUdeviceptr a) { return (a & TAG) == TAG; }
static void *host(CUdeviceptr a) { return (void *)(a & ~TAG); }

CUresult cuInit(unsigned int flags) { CALL(cuInit); NEED(flags == 0); return 0; }
CUresult cuDriverGetVersion(int *v) { CALL(cuDriverGetVersion); *v = 12080; return 0; }

CUresult cuGetErrorName(CUresult code, const char **name) {
  switch ((int)code) {
    case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
    case 100: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
    case 218: *name = "CUDA_ERROR_INVALID_PTX"; return 0;
    case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
  }
  *name = NULL;
  return INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *n) { CALL(cuDeviceGetCount); *n = 2; return 0; }
CUresult cuDeviceGet(CUdevice *d, int ordinal) {
  CALL(cuDeviceGet);
  NEED(ordinal == 0 || ordinal == 1);
  *d = ordinal == 1 ? DEVICE : 0;
  return 0;
}
#ifndef OLD
CUresult cuDeviceGetUuid_v2(CUuuid *u, CUdevice d) {
  CALL(cuDeviceGetUuid);
  NEED(d == 0 || d == DEVICE);
  for (int i = 0; i < 16; i++) u->bytes[i] = (char)((d ? 0xf0 : 0) + i);
  return 0;
}
#endif
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
  CALL(cuDeviceGetAttribute);
  NEED(d == DEVICE);
  switch ((int)a) {
    case 75: *v = 9; return 0;
    case 76: *v = 0; return 0;
    case 16: *v = 132; return 0;
    case 38: *v = 50 << 20; return 0;
    case 97: *v = 232448; return 0;
  }
  return INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
  CALL(cuDevicePrimaryCtxRetain);
  NEED(d == DEVICE);
  contexts++;
  *c = CONTEXT;
  return 0;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
  CALL(cuDevicePrimaryCtxRelease);
  NEED(d == DEVICE && contexts > 0);
  contexts--;
  return 0;
}
CUresult cuCtxSetCurrent(CUcontext c) {
  int code = fails("cuCtxSetCurrent");
  if (code) return code;
  NEED(c == CONTEXT);
  current = c;
  return 0;
}
// stub_forget takes the context from the thread.
void stub_forget(void) { current = NULL; }

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  CALL(cuMemGetInfo); NEED_CONTEXT();
  *free = 79ull << 30;
  *total = 80ull << 30;
  return 0;
}
CUresult cuMemAlloc_v2(CUdeviceptr *a, size_t bytes) {
  CALL(cuMemAlloc); NEED_CONTEXT(); NEED(bytes > 0);
  if (bytes > 80ull << 30) return 2;
  blocks++;
  *a = (CUdeviceptr)malloc(bytes) | TAG;
  return 0;
}
CUresult cuMemFree_v2(CUdeviceptr a) {
  CALL(cuMemFree); NEED_CONTEXT(); NEED(on_device(a));
  blocks--;
  free(host(a));
  return 0;
}
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags) {
  CALL(cuMemHostAlloc); NEED_CONTEXT(); NEED(flags == 3); NEED(bytes > 0);
  blocks++;
  *p = calloc(bytes, 1);
  return 0;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *a, void *p, unsigned int flags) {
  CALL(cuMemHostGetDevicePointer); NEED_CONTEXT(); NEED(flags == 0); NEED(p);
  *a = (CUdeviceptr)p | TAG;
  return 0;
}
CUresult cuMemFreeHost(void *p) {
  CALL(cuMemFreeHost); NEED_CONTEXT(); NEED(!on_device((CUdeviceptr)p));
  blocks--;
  free(p);
  return 0;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream s) {
  CALL(cuMemsetD8Async); NEED_CONTEXT(); NEED(s == STREAM); NEED(on_device(to));
  memset(host(to), value, bytes);
  return 0;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s) {
  CALL(cuMemcpyAsync); NEED_CONTEXT(); NEED(s == STREAM); NEED(on_device(to) && on_device(from));
  memcpy(host(to), host(from), bytes);
  return 0;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream s) {
  CALL(cuMemcpyHtoDAsync); NEED_CONTEXT(); NEED(s == STREAM); NEED(on_device(to));
  memcpy(host(to), from, bytes);
  return 0;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream s) {
  CALL(cuMemcpyDtoHAsync); NEED_CONTEXT(); NEED(s == STREAM); NEED(on_device(from));
  memcpy(to, host(from), bytes);
  return 0;
}

CUresult cuStreamCreate(CUstream *s, unsigned int flags) {
  CALL(cuStreamCreate); NEED_CONTEXT(); NEED(flags == 1);
  streams++;
  *s = STREAM;
  return 0;
}
CUresult cuStreamDestroy_v2(CUstream s) {
  CALL(cuStreamDestroy); NEED_CONTEXT(); NEED(s == STREAM);
  streams--;
  return 0;
}
CUresult cuStreamSynchronize(CUstream s) {
  CALL(cuStreamSynchronize); NEED_CONTEXT(); NEED(s == STREAM && !in_capture);
  return 0;
}

CUresult cuEventCreate(CUevent *e, unsigned int flags) {
  CALL(cuEventCreate); NEED_CONTEXT(); NEED(flags == 0);
  *e = EVENT(events++);
  return 0;
}
CUresult cuEventRecord(CUevent e, CUstream s) {
  CALL(cuEventRecord); NEED_CONTEXT(); NEED(s == STREAM); NEED(e == EVENT(0) || e == EVENT(1));
  return 0;
}
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
  CALL(cuEventElapsedTime); NEED_CONTEXT(); NEED(from == EVENT(0) && to == EVENT(1));
  *ms = 1.5f;
  return 0;
}
#ifndef cuEventElapsedTime // what the headers of CUDA 13 call so
CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime(ms, from, to); }
#endif
CUresult cuEventDestroy_v2(CUevent e) {
  CALL(cuEventDestroy); NEED_CONTEXT(); NEED(e == EVENT(0) || e == EVENT(1));
  events--;
  return 0;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
  CALL(cuStreamBeginCapture); NEED_CONTEXT(); NEED(s == STREAM && mode == 1 && !in_capture);
  capturing = pthread_self();
  in_capture = 1;
  return 0;
}
CUresult cuStreamEndCapture(CUstream s, CUgraph *g) {
  CALL(cuStreamEndCapture); NEED_CONTEXT(); NEED(s == STREAM);
  if (!in_capture) return UNMATCHED;
  if (!pthread_equal(capturing, pthread_self())) return WRONG_THREAD;
  in_capture = 0;
  graphs++;
  *g = GRAPH;
  return 0;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *e, CUgraph g, unsigned long long flags) {
  CALL(cuGraphInstantiate); NEED_CONTEXT(); NEED(g == GRAPH && flags == 0);
  executables++;
  *e = EXECUTABLE;
  return 0;
}
CUresult cuGraphDestroy(CUgraph g) {
  CALL(cuGraphDestroy); NEED_CONTEXT(); NEED(g == GRAPH);
  graphs--;
  return 0;
}
CUresult cuGraphLaunch(CUgraphExec e, CUstream s) {
  CALL(cuGraphLaunch); NEED_CONTEXT(); NEED(e == EXECUTABLE && s == STREAM);
  return 0;
}
CUresult cuGraphExecDestroy(CUgraphExec e) {
  CALL(cuGraphExecDestroy); NEED_CONTEXT(); NEED(e == EXECUTABLE);
  executables--;
  return 0;
}

// An image that begins with "bad" does not compile.
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned int n, CUjit_option *options, void **values) {
  CALL(cuModuleLoadDataEx); NEED_CONTEXT();
  NEED(n == 2 && (int)options[0] == 5 && (int)options[1] == 6 && (size_t)values[1] >= 4096);
  note("  image %s\n", (const char *)image);
  if (!strncmp(image, "bad", 3)) {
    snprintf(values[0], (size_t)values[1], "ptxas error: line 1 of %s", (const char *)image);
    return 218;
  }
  *m = MODULE;
  return 0;
}
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
  CALL(cuModuleGetFunction); NEED_CONTEXT(); NEED(m == MODULE);
  if (strcmp(name, "probe")) return 500;
  *f = FUNCTION;
  return 0;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
  CALL(cuFuncGetAttribute); NEED_CONTEXT(); NEED((int)a == 1 && f == FUNCTION);
  *v = 1024;
  return 0;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
  CALL(cuFuncSetAttribute); NEED_CONTEXT(); NEED((int)a == 8 && f == FUNCTION && v == 232448 - 1024);
  return 0;
}

// probe(void *a, int i, long long l, float f, double d) writes its arguments to the log, and 42 to a.
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
    unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **args, void **extra) {
  CALL(cuLaunchKernel); NEED_CONTEXT(); NEED(f == FUNCTION && s == STREAM && extra == NULL);
  CUdeviceptr a = *(CUdeviceptr *)args[0];
  note("  <<<(%u %u %u), (%u %u %u), %u>>>(%s, %d, %lld, %g, %g)\n", gx, gy, gz, bx, by, bz, shared,
      on_device(a) ? "device" : "?", *(int *)args[1], *(long long *)args[2], *(float *)args[3], *(double *)args[4]);
  if (on_device(a)) *(unsigned char *)host(a) = 42;
  return 0;
}

// stub_held tells what was not given back.
long stub_held(void) { return blocks + streams + events + contexts + graphs + executables; }
