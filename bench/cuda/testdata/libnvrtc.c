// A libnvrtc for tests, of version 12.3, for capabilities 8.0 and 9.0: what it "compiles" is a list
// of what it was given. A source with "#error" fails. With -DNEWER it is 13.3, for 9.0 and 10.0.
#ifdef CUDA_H
#include <nvrtc.h>
#else
#include <stddef.h>
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _nvrtcProgram {
  char out[1 << 16], log[256];
  int failed, cubin;
};

static long programs;
long stub_held(void) { return programs; }

static void add(nvrtcProgram p, const char *key, const char *value) {
  size_t used = strlen(p->out);
  snprintf(p->out + used, sizeof p->out - used, "%s %s\n", key, value);
}

#ifdef NEWER
enum { newer = 1 };
#else
enum { newer = 0 };
#endif

nvrtcResult nvrtcVersion(int *major, int *minor) { *major = 12 + newer; *minor = 3; return 0; }
nvrtcResult nvrtcGetNumSupportedArchs(int *n) { *n = 2; return 0; }
nvrtcResult nvrtcGetSupportedArchs(int *archs) { archs[0] = 80 + 10 * newer; archs[1] = 90 + 10 * newer; return 0; }
const char *nvrtcGetErrorString(nvrtcResult code) { return (int)code == 6 ? "NVRTC_ERROR_COMPILATION" : "other"; }

nvrtcResult nvrtcCreateProgram(nvrtcProgram *p, const char *source, const char *name, int n,
    const char *const *headers, const char *const *names) {
  programs++;
  *p = calloc(1, sizeof **p);
  add(*p, "name", name);
  for (int i = 0; i < n; i++) {
    add(*p, "header", names[i]);
    if (strlen(headers[i]) < 100) return 3;
  }
  (*p)->failed = strstr(source, "#error") != NULL;
  return 0;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options) {
  for (int i = 0; i < n; i++) {
    add(p, "option", options[i]);
    if (!strncmp(options[i], "--gpu-architecture=sm_", 22)) p->cubin = 1;
  }
  if (p->failed) strcpy(p->log, "x.cu(1): error: #error directive\n");
  return p->failed ? 6 : 0;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *p) { programs--; free(*p); *p = NULL; return 0; }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *n) { *n = strlen(p->log) + 1; return 0; }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log) { strcpy(log, p->log); return 0; }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *n) { *n = p->cubin ? strlen(p->out) : 0; return 0; }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *out) { memcpy(out, p->out, strlen(p->out)); return p->cubin ? 0 : 4; }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *n) { *n = strlen(p->out) + 1; return 0; }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *out) { strcpy(out, p->out); return 0; }
