// A libcublasLt for tests, which multiplies matrices in the memory of the host as they were
// described. With -DCUDA_H the compiler compares it with the real declarations; with -DOLD it lacks
// a function.
#include "stub.h"
#ifdef CUDA_H
#define __CUDA_FP16_H__ // C++, which none of the declarations needs
#define __CUDA_BF16_H__
#include <cublasLt.h>
#else
typedef int cublasStatus_t, cudaDataType, cudaDataType_t, cublasComputeType_t, libraryPropertyType;
typedef int cublasLtMatrixLayoutAttribute_t, cublasLtMatmulDescAttributes_t, cublasLtMatmulPreferenceAttributes_t, cublasLtMatmulAlgoConfigAttributes_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct { uint64_t data[8]; } cublasLtMatrixLayoutOpaque_t, cublasLtMatmulAlgo_t, cublasLtMatmulPreferenceOpaque_t;
typedef struct { uint64_t data[32]; } cublasLtMatmulDescOpaque_t;
typedef cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
#endif

enum { INVALID = 7, NOT_SUPPORTED = 15, R32F = 0, R64F = 1, R16F = 2, R8I = 3, R32I = 10, R16BF = 14, R8F = 28 };

#define HANDLE ((cublasLtHandle_t)0x7e00123456780001ull)

typedef struct { char what; int type, batch; uint64_t rows, cols; int64_t ld, stride; } layout;
typedef struct { char what; int compute, scale, trans_a; uint32_t epilogue; const void *bias; } operation;
typedef struct { char what; uint64_t workspace; uint32_t reductions; } preference;

cublasStatus_t cublasLtGetProperty(libraryPropertyType which, int *value) {
  CALL(cublasLtGetProperty);
  NEED((int)which >= 0 && (int)which < 3);
  *value = (int[]){12, 9, 1}[which];
  return 0;
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t *h) { CALL(cublasLtCreate); held++; *h = HANDLE; return 0; }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) { NEED(h == HANDLE); held--; return 0; }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *to, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  CALL(cublasLtMatrixLayoutCreate);
  NEED(rows > 0 && cols > 0 && ld >= (int64_t)rows);
  layout *l = calloc(1, sizeof *l);
  *l = (layout){'l', type, 1, rows, cols, ld, 0};
  *to = (void *)l;
  held++;
  return 0;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t a, const void *v, size_t n) {
  layout *l = (void *)to;
  NEED(l->what == 'l');
  switch ((int)a) {
  case 5: NEED(n == 4); memcpy(&l->batch, v, n); return 0;
  case 6: NEED(n == 8); memcpy(&l->stride, v, n); return 0;
  }
  NEED(!"an attribute of a layout");
}
static cublasStatus_t destroy(char *what, char want) { NEED(*what == want); *what = 0; held--; free(what); return 0; }
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) { return destroy((char *)l, 'l'); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *to, cublasComputeType_t compute, cudaDataType_t scale) {
  CALL(cublasLtMatmulDescCreate);
  operation *o = calloc(1, sizeof *o);
  *o = (operation){'o', compute, scale, 0, 1, NULL};
  *to = (void *)o;
  held++;
  return 0;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t a, const void *v, size_t n) {
  operation *o = (void *)to;
  NEED(o->what == 'o');
  switch ((int)a) {
  case 3: NEED(n == 4); memcpy(&o->trans_a, v, n); NEED(o->trans_a == 0 || o->trans_a == 1); return 0;
  case 7: NEED(n == 4); memcpy(&o->epilogue, v, n); NEED(o->epilogue == 2 || o->epilogue == 4 || o->epilogue == 6); return 0;
  case 8: NEED(n == 8); memcpy(&o->bias, v, n); return 0;
  }
  NEED(!"an attribute of an operation");
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t o) { return destroy((char *)o, 'o'); }

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *to) {
  preference *p = calloc(1, sizeof *p);
  *p = (preference){'p', 0, 7};
  *to = (void *)p;
  held++;
  return 0;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t to, cublasLtMatmulPreferenceAttributes_t a, const void *v, size_t n) {
  preference *p = (void *)to;
  NEED(p->what == 'p');
  switch ((int)a) {
  case 1: NEED(n == 8); memcpy(&p->workspace, v, n); return 0;
  case 3: NEED(n == 4); memcpy(&p->reductions, v, n); return 0;
  }
  NEED(!"an attribute of a preference");
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) { return destroy((char *)p, 'p'); }

static double get(const void *at, int type, int64_t i) {
  switch (type) {
  case R64F: return ((const double *)at)[i];
  case R32F: return ((const float *)at)[i];
  case R32I: return ((const int32_t *)at)[i];
  case R16F: return fp16_float(((const uint16_t *)at)[i]);
  case R16BF: return bf16_float(((const uint16_t *)at)[i]);
  case R8I: return ((const int8_t *)at)[i];
  }
  int x = ((const uint8_t *)at)[i], e = x >> 3 & 15, n = x & 7;
  double v = e ? (8 + n) * (double)(1 << e) / 1024 : n / 512.0;
  return x & 128 ? -v : v;
}

static void set(void *at, int type, int64_t i, double v) {
  switch (type) {
  case R64F: ((double *)at)[i] = v; break;
  case R32F: ((float *)at)[i] = (float)v; break;
  case R32I: ((int32_t *)at)[i] = (int32_t)v; break;
  case R16F: ((uint16_t *)at)[i] = float_fp16((float)v); break;
  case R16BF: ((uint16_t *)at)[i] = float_bf16((float)v); break;
  }
}

// What the library takes: combinations of types, and products of one byte with A transposed and
// columns of 4 or 16 elements only.
static cublasStatus_t supported(operation *o, layout *a, layout *b, layout *c, layout *d) {
  NEED(o->what == 'o' && a->what == 'l' && b->what == 'l' && c->what == 'l' && d->what == 'l');
  uint64_t m = o->trans_a ? a->cols : a->rows, k = o->trans_a ? a->rows : a->cols;
  NEED(b->rows == k && d->rows == m && d->cols == b->cols && c->rows == m && c->cols == b->cols);
  NEED(a->type == b->type && c->type == d->type && a->batch == b->batch && a->batch == d->batch && a->batch == c->batch);
  NEED(a->batch == 1 || (a->stride >= (int64_t)(a->ld * a->cols) && b->stride >= (int64_t)(b->ld * b->cols) && d->stride >= (int64_t)(d->ld * d->cols)));
  NEED(!(o->epilogue & 4) || o->bias);
  NEED(!(o->epilogue & ~7u));
  int fits = 0;
  switch (o->compute) {
  case 70: fits = o->scale == R64F && a->type == R64F && d->type == R64F; break;
  case 77: fits = o->scale == R32F && a->type == R32F && d->type == R32F; break;
  case 72: fits = o->scale == R32I && a->type == R8I && d->type == R32I && o->epilogue == 1; break;
  case 68:
    fits = o->scale == R32F && (d->type == R32F || d->type == a->type) && a->type != R64F && a->type != R8I;
    break;
  }
  if (!fits) return NOT_SUPPORTED;
  int narrow = a->type == R8I ? 4 : a->type == R8F ? 16 : 1;
  if (narrow > 1 && (!o->trans_a || a->ld % narrow || b->ld % narrow)) return NOT_SUPPORTED;
  return 0;
}

// Four algorithms are offered: the first cannot run, the second is slow, the third is fast, the
// fourth is refused when it is executed.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t o, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t pref, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *found) {
  CALL(cublasLtMatmulAlgoGetHeuristic);
  preference *p = (void *)pref;
  NEED(h == HANDLE && p->what == 'p' && wanted >= 4);
  cublasStatus_t s = supported((void *)o, (void *)a, (void *)b, (void *)c, (void *)d);
  if (s) return s;
  NEED(p->reductions == (((layout *)d)->type == ((operation *)o)->scale ? 7 : 2));
  memset(results, 0, 4 * sizeof *results);
  for (int i = 0; i < 4; i++) {
    results[i].algo.data[0] = 65 + i;
    results[i].workspaceSize = i == 2 ? 4096 : i == 1 ? p->workspace / 1024 : 0;
  }
  results[0].state = NOT_SUPPORTED;
  *found = 4;
  note("workspace %ld MiB\n", (long)(p->workspace >> 20));
  return 0;
}

#ifndef OLD
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t a, void *v, size_t n, size_t *written) {
  uint32_t value = 0;
  switch ((int)a) {
  case 0: value = algo->data[0]; break;
  case 1: value = 20; break;
  case 2: value = 1; break;
  case 5: case 6: break;
  case 8: NEED(n == 2); value = 3; break;
  default: NEED(!"an attribute of an algorithm");
  }
  NEED((int)a == 8 || n == 4);
  memcpy(v, &value, n);
  *written = n;
  return 0;
}
#endif

cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t desc, const void *alpha, const void *A, cublasLtMatrixLayout_t la,
                              const void *B, cublasLtMatrixLayout_t lb, const void *beta, const void *C, cublasLtMatrixLayout_t lc,
                              void *D, cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream) {
  CALL(cublasLtMatmul);
  operation *o = (void *)desc;
  layout *a = (void *)la, *b = (void *)lb, *c = (void *)lc, *d = (void *)ld;
  NEED(h == HANDLE && stream == NULL && algo);
  cublasStatus_t s = supported(o, a, b, c, d);
  if (s) return s;
  int id = algo->data[0];
  NEED(id != 67 || (workspace && workspace_bytes == 4096));
  if (id == 68 || id == 65) return NOT_SUPPORTED;
  if (id == 66) rest(20);
  if (workspace_bytes) memset(workspace, 0x5a, workspace_bytes);
  double scale = get(alpha, o->scale, 0), old = get(beta, o->scale, 0);
  int64_t m = d->rows, n = d->cols, k = b->rows;
  for (int64_t g = 0; g < d->batch; g++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) {
        double exact = 0;
        float single = 0;
        for (int64_t l = 0; l < k; l++) {
          double x = get(A, a->type, g * a->stride + (o->trans_a ? i * a->ld + l : l * a->ld + i));
          double y = get(B, b->type, g * b->stride + j * b->ld + l);
          if (o->compute == 77) x = cut_tf32(x), y = cut_tf32(y);
          if (o->compute == 68 || o->compute == 77) single += (float)x * (float)y;
          else exact += x * y;
        }
        double v = scale * (exact + single);
        if (old) v += old * get(C, c->type, g * c->stride + j * c->ld + i);
        if (o->epilogue & 4) v += get(o->bias, d->type, i);
        if (o->epilogue & 2 && v < 0) v = 0;
        set(D, d->type, g * d->stride + j * d->ld + i, v);
      }
  return 0;
}
