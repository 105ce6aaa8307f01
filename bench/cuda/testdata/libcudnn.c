// A libcudnn for tests, which executes graphs of operations in the memory of the host as they were
// described. With -DCUDA_H the compiler compares it with the real declarations; with -DOLD it lacks a
// function; with -DCUDART=N it was built with that version of CUDA, of which there is no cuBLASLt; with
// -DSLOW plans take long to build; with -DREFUSING it takes them long to be refused.
#include "stub.h"
#include <math.h>
#ifdef CUDA_H
#include <cudnn_graph.h>
_Static_assert(CUDNN_TYPE_HANDLE == 0 && CUDNN_TYPE_DATA_TYPE == 1 && CUDNN_TYPE_BOOLEAN == 2 && CUDNN_TYPE_INT64 == 3 && CUDNN_TYPE_FLOAT == 4 &&
  CUDNN_TYPE_VOID_PTR == 6 && CUDNN_TYPE_CONVOLUTION_MODE == 7 && CUDNN_TYPE_HEUR_MODE == 8 && CUDNN_TYPE_KNOB_TYPE == 9 &&
  CUDNN_TYPE_NUMERICAL_NOTE == 11 && CUDNN_TYPE_POINTWISE_MODE == 14 && CUDNN_TYPE_BACKEND_DESCRIPTOR == 15 && CUDNN_TYPE_REDUCTION_OPERATOR_TYPE == 18, "types");
_Static_assert(CUDNN_DATA_FLOAT == 0 && CUDNN_DATA_HALF == 2 && CUDNN_DATA_INT32 == 4 && CUDNN_DATA_BFLOAT16 == 9 && CUDNN_DATA_BOOLEAN == 11, "elements");
_Static_assert(CUDNN_BACKEND_POINTWISE_DESCRIPTOR == 0 && CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR == 1 && CUDNN_BACKEND_ENGINE_DESCRIPTOR == 2 &&
  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR == 3 && CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR == 4 && CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR == 5 &&
  CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR == 7 && CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR == 10 &&
  CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR == 13 && CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR == 15 && CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR == 16 &&
  CUDNN_BACKEND_TENSOR_DESCRIPTOR == 17 && CUDNN_BACKEND_MATMUL_DESCRIPTOR == 18 && CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR == 19 &&
  CUDNN_BACKEND_REDUCTION_DESCRIPTOR == 21 && CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR == 22, "kinds");
_Static_assert(CUDNN_POINTWISE_ADD == 0 && CUDNN_POINTWISE_MUL == 1 && CUDNN_POINTWISE_DIV == 6 && CUDNN_POINTWISE_SUB == 9 && CUDNN_POINTWISE_EXP == 13 &&
  CUDNN_POINTWISE_LOG == 15 && CUDNN_POINTWISE_RELU_FWD == 100 && CUDNN_POINTWISE_CMP_GE == 303 && CUDNN_POINTWISE_GEN_INDEX == 501 &&
  CUDNN_POINTWISE_BINARY_SELECT == 601 && CUDNN_REDUCE_TENSOR_ADD == 0 && CUDNN_REDUCE_TENSOR_MAX == 3 && CUDNN_CROSS_CORRELATION == 1 &&
  CUDNN_HEUR_MODE_A == 3 && CUDNN_HEUR_MODE_FALLBACK == 2, "modes");
_Static_assert(CUDNN_NUMERICAL_NOTE_TENSOR_CORE == 0 && CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS == 1 && CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION == 2 &&
  CUDNN_NUMERICAL_NOTE_FFT == 3 && CUDNN_NUMERICAL_NOTE_WINOGRAD == 5 && CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 == 8, "notes");
_Static_assert(CUDNN_ATTR_POINTWISE_MODE == 0 && CUDNN_ATTR_POINTWISE_MATH_PREC == 1 && CUDNN_ATTR_POINTWISE_AXIS == 9 &&
  CUDNN_ATTR_CONVOLUTION_COMP_TYPE == 100 && CUDNN_ATTR_CONVOLUTION_CONV_MODE == 101 && CUDNN_ATTR_CONVOLUTION_DILATIONS == 102 &&
  CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES == 103 && CUDNN_ATTR_CONVOLUTION_POST_PADDINGS == 104 && CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS == 105 &&
  CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS == 106 && CUDNN_ATTR_ENGINEHEUR_MODE == 200 && CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH == 201 &&
  CUDNN_ATTR_ENGINEHEUR_RESULTS == 202 && CUDNN_ATTR_ENGINEHEUR_DEVICEPROP == 204 && CUDNN_ATTR_ENGINECFG_ENGINE == 300 && CUDNN_ATTR_ENGINECFG_KNOB_CHOICES == 302 &&
  CUDNN_ATTR_EXECUTION_PLAN_HANDLE == 400 && CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG == 401 && CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE == 402 &&
  CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP == 407 && CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE == 600 && CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE == 601, "attributes");
_Static_assert(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA == 700 && CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA == 701 &&
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC == 702 && CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W == 703 &&
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X == 704 && CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y == 705 &&
  CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR == 750 && CUDNN_ATTR_OPERATION_POINTWISE_XDESC == 751 && CUDNN_ATTR_OPERATION_POINTWISE_BDESC == 752 &&
  CUDNN_ATTR_OPERATION_POINTWISE_YDESC == 753 && CUDNN_ATTR_OPERATION_POINTWISE_TDESC == 758 && CUDNN_ATTR_OPERATIONGRAPH_HANDLE == 800 &&
  CUDNN_ATTR_OPERATIONGRAPH_OPS == 801 && CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT == 900 && CUDNN_ATTR_TENSOR_DATA_TYPE == 901 &&
  CUDNN_ATTR_TENSOR_DIMENSIONS == 902 && CUDNN_ATTR_TENSOR_STRIDES == 903 && CUDNN_ATTR_TENSOR_UNIQUE_ID == 906 && CUDNN_ATTR_TENSOR_IS_VIRTUAL == 907 &&
  CUDNN_ATTR_TENSOR_IS_BY_VALUE == 908 && CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS == 1000 && CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS == 1001 &&
  CUDNN_ATTR_VARIANT_PACK_WORKSPACE == 1003 && CUDNN_ATTR_ENGINE_GLOBAL_INDEX == 1301 && CUDNN_ATTR_ENGINE_NUMERICAL_NOTE == 1303 &&
  CUDNN_ATTR_MATMUL_COMP_TYPE == 1500 && CUDNN_ATTR_OPERATION_MATMUL_ADESC == 1520 && CUDNN_ATTR_OPERATION_MATMUL_BDESC == 1521 &&
  CUDNN_ATTR_OPERATION_MATMUL_CDESC == 1522 && CUDNN_ATTR_OPERATION_MATMUL_DESC == 1523 && CUDNN_ATTR_REDUCTION_OPERATOR == 1600 &&
  CUDNN_ATTR_REDUCTION_COMP_TYPE == 1601 && CUDNN_ATTR_OPERATION_REDUCTION_XDESC == 1610 && CUDNN_ATTR_OPERATION_REDUCTION_YDESC == 1611 &&
  CUDNN_ATTR_OPERATION_REDUCTION_DESC == 1612, "attributes of operations");
#else
typedef int cudnnStatus_t, cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t;
typedef struct cudnnContext *cudnnHandle_t;
typedef struct CUstream_st *cudaStream_t;
typedef void *cudnnBackendDescriptor_t;
#endif

enum { INVALID = 2000, NOT_SUPPORTED = 3000 };

#define HANDLE ((cudnnHandle_t)0x7e00123456780002ull)

typedef struct { int name, type; int64_t n; void *values; } attribute;
typedef struct descriptor {
  int kind, final, index; // of an engine, and of a configuration
  int attributes;
  attribute at[16];
  struct descriptor *graph; // of a configuration
} descriptor;

static int size_of(int type) {
  switch (type) {
  case 2: return 1;
  case 0: case 3: case 6: case 15: return 8;
  }
  return 4;
}

static attribute *find(const descriptor *d, int name) {
  for (int i = 0; i < d->attributes; i++)
    if (d->at[i].name == name) return (attribute *)&d->at[i];
  return NULL;
}
static int64_t integer(const descriptor *d, int name, int64_t otherwise) {
  attribute *a = find(d, name);
  if (!a) return otherwise;
  return size_of(a->type) == 1 ? *(char *)a->values : size_of(a->type) == 4 ? *(int32_t *)a->values : *(int64_t *)a->values;
}
static descriptor *part(const descriptor *d, int name) {
  attribute *a = find(d, name);
  return a ? *(descriptor **)a->values : NULL;
}

size_t cudnnGetVersion(void) { return 91203; }
#ifndef CUDART
#define CUDART 99010
#endif
size_t cudnnGetCudartVersion(void) { return CUDART; }
void cudnnGetLastErrorString(char *to, size_t n) { snprintf(to, n, "the reason"); }
cudnnStatus_t cudnnCreate(cudnnHandle_t *h) { CALL(cudnnCreate); held++; *h = HANDLE; return 0; }
cudnnStatus_t cudnnDestroy(cudnnHandle_t h) { NEED(h == HANDLE); held--; return 0; }
cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) { NEED(h == HANDLE && !s); return 0; }

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t *to) {
  CALL(cudnnBackendCreateDescriptor);
  descriptor *d = calloc(1, sizeof *d);
  d->kind = kind;
  *to = (cudnnBackendDescriptor_t)d;
  held++;
  return 0;
}
#ifndef OLD
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t of) {
  descriptor *d = (descriptor *)of;
  for (int i = 0; i < d->attributes; i++) free(d->at[i].values);
  free(d);
  held--;
  return 0;
}
#endif
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t n, const void *values) {
  CALL(cudnnBackendSetAttribute);
  descriptor *d = (descriptor *)of;
  NEED(!d->final && n > 0 && values && d->attributes < 16 && !find(d, name));
  if (type == 15)
    for (int64_t i = 0; i < n; i++) NEED(((descriptor **)values)[i]->final);
  attribute *a = &d->at[d->attributes++];
  *a = (attribute){name, type, n, malloc(n * size_of(type))};
  memcpy(a->values, values, n * size_of(type));
  return 0;
}

// A type for each attribute that must be there.
static int has(const descriptor *d, int name, int type) {
  attribute *a = find(d, name);
  if (!a || a->type != type) note("  bad: descriptor %d lacks attribute %d of type %d\n", d->kind, name, type);
  return a && a->type == type;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t of) {
  CALL(cudnnBackendFinalize);
  descriptor *d = (descriptor *)of;
  static const int required[][9] = { // kind, then names and types
    {0, 0, 14, 1, 1}, {1, 100, 1, 101, 7, 103, 3, 104, 3}, {4, 200, 8, 201, 15}, {5, 400, 0, 401, 15},
    {10, 700, 4, 702, 15, 703, 15, 704, 15}, {13, 750, 15, 751, 15, 753, 15}, {15, 800, 0, 801, 15}, {16, 1000, 3, 1001, 6, 1003, 6},
    {17, 900, 3, 901, 1, 902, 3, 903, 3}, {18, 1500, 1}, {19, 1520, 15, 1521, 15, 1522, 15, 1523, 15}, {21, 1600, 18, 1601, 1}, {22, 1610, 15, 1611, 15, 1612, 15},
  };
  for (size_t i = 0; i < sizeof required / sizeof *required; i++)
    if (required[i][0] == d->kind)
      for (int j = 1; j < 9 && (required[i][j] || required[i][j + 1]); j += 2)
        if (!has(d, required[i][j], required[i][j + 1])) return INVALID;
  if (d->kind == 5) {
#ifdef REFUSING
    note("refused engine %d\n", part(d, 401)->index);
    rest(1100);
    return NOT_SUPPORTED;
#endif
    if (part(d, 401)->index == 41) return NOT_SUPPORTED;
    note("plan of engine %d\n", part(d, 401)->index);
#ifdef SLOW
    rest(400);
#endif
  }
  d->final = 1;
  return 0;
}

// The heuristic knows engine 40, whose inputs are narrowed, 41, which cannot be built, 42 with tensor cores and
// the slower 43 without.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room, int64_t *n, void *values) {
  CALL(cudnnBackendGetAttribute);
  descriptor *d = (descriptor *)of, **parts = values;
  switch ((int)name) {
  case 202:
    NEED(d->kind == 4 && d->final && type == 15 && room >= 4);
    for (int i = 0; i < 4; i++) {
      NEED(parts[i]->kind == 3);
      parts[i]->index = 40 + i, parts[i]->graph = part(d, 201), parts[i]->final = 1;
    }
    *n = 4;
    return 0;
  case 300: NEED(type == 15 && room == 1 && parts[0]->kind == 2); parts[0]->index = d->index; parts[0]->final = 1; *n = 1; return 0;
  case 302: NEED(type == 15 && parts[0]->kind == 7); *n = 1; return 0;
  case 402: NEED(type == 3 && d->final); *(int64_t *)values = 512; *n = 1; return 0;
  case 600: NEED(type == 9); *(int32_t *)values = 2; *n = 1; return 0;
  case 601: NEED(type == 3); *(int64_t *)values = 7; *n = 1; return 0;
  case 1301: NEED(type == 3); *(int64_t *)values = d->index; *n = 1; return 0;
  case 1303: NEED(type == 11); *n = d->index != 43; *(int32_t *)values = d->index == 40; return 0;
  }
  NEED(!"an attribute");
}

// value is a tensor while a graph is executed, in row-major order of its dimensions.
typedef struct { int64_t id, dims[4], strides[4]; int type, is_virtual; double *at; void *memory; } value;
static value values[64];
static int count;

static int64_t elements(const value *v) { return v->dims[0] * v->dims[1] * v->dims[2] * v->dims[3]; }
static double rounded(double v, int type) {
  switch (type) {
  case 0: return (float)v;
  case 2: return fp16_float(float_fp16((float)v));
  case 9: return bf16_float(float_bf16((float)v));
  }
  return v;
}
static int64_t place(const value *v, int64_t i) {
  int64_t at = 0;
  for (int d = 3; d >= 0; d--) at += i % v->dims[d] * v->strides[d], i /= v->dims[d];
  return at;
}

static value *open_value(descriptor *t, descriptor *pack) {
  int64_t id = integer(t, 906, -1);
  for (int i = 0; i < count; i++)
    if (values[i].id == id) return &values[i];
  value *v = &values[count++];
  memset(v, 0, sizeof *v);
  v->id = id, v->type = integer(t, 901, -1), v->is_virtual = integer(t, 907, 0);
  memcpy(v->dims, find(t, 902)->values, 32);
  memcpy(v->strides, find(t, 903)->values, 32);
  v->at = calloc(elements(v), 8);
  attribute *ids = find(pack, 1000), *pointers = find(pack, 1001);
  for (int64_t i = 0; i < ids->n; i++)
    if (((int64_t *)ids->values)[i] == id) v->memory = ((void **)pointers->values)[i];
  if (!v->is_virtual && !v->memory) note("  bad: tensor %ld has no memory\n", (long)id);
  for (int64_t i = 0; v->memory && i < elements(v); i++) {
    int64_t p = place(v, i);
    v->at[i] = v->type == 2 ? fp16_float(((uint16_t *)v->memory)[p]) : v->type == 9 ? bf16_float(((uint16_t *)v->memory)[p])
      : v->type == 4 ? ((int32_t *)v->memory)[p] : ((float *)v->memory)[p];
  }
  return v;
}

static void store(value *v) {
  for (int64_t i = 0; i < elements(v); i++) {
    v->at[i] = rounded(v->at[i], v->type);
    if (!v->memory) continue;
    int64_t p = place(v, i);
    if (v->type == 2) ((uint16_t *)v->memory)[p] = float_fp16((float)v->at[i]);
    else if (v->type == 9) ((uint16_t *)v->memory)[p] = float_bf16((float)v->at[i]);
    else ((float *)v->memory)[p] = (float)v->at[i];
  }
}

// broadcast is the element of x that meets element i of y.
static double broadcast(const value *x, const value *y, int64_t i) {
  int64_t at = 0, step = 1;
  for (int d = 3; d >= 0; d--) {
    int64_t k = i % y->dims[d];
    i /= y->dims[d];
    if (x->dims[d] > 1) at += k * step;
    step *= x->dims[d];
  }
  return x->at[at];
}

static int pointwise(descriptor *op, descriptor *pack) {
  descriptor *how = part(op, 750), *b = part(op, 752), *t = part(op, 758);
  value *y = open_value(part(op, 753), pack), *x = open_value(part(op, 751), pack);
  value *second = b ? open_value(b, pack) : NULL, *third = t ? open_value(t, pack) : NULL;
  int axis = integer(how, 9, -1);
  for (int64_t i = 0; i < elements(y); i++) {
    double v = broadcast(x, y, i), w = second ? broadcast(second, y, i) : 0;
    int64_t index = i;
    switch (integer(how, 0, -1)) {
    case 0: v += w; break;
    case 1: v *= w; break;
    case 6: v /= w; break;
    case 9: v -= w; break;
    case 13: v = exp(v); break;
    case 15: v = log(v); break;
    case 100: v = v > 0 ? v : 0; break;
    case 303: v = v >= w; break;
    case 501:
      NEED(axis >= 0 && axis < 4);
      for (int d = 3; d > axis; d--) index /= y->dims[d];
      v = index % y->dims[axis];
      break;
    case 601: NEED(third); v = broadcast(third, y, i) ? v : w; break;
    default: NEED(!"a mode");
    }
    y->at[i] = v;
  }
  store(y);
  return 0;
}

static int reduce(descriptor *op, descriptor *pack) {
  value *x = open_value(part(op, 1610), pack), *y = open_value(part(op, 1611), pack);
  int largest = integer(part(op, 1612), 1600, -1) == 3;
  NEED(y->dims[0] == x->dims[0] && y->dims[1] == x->dims[1] && y->dims[2] == x->dims[2] && y->dims[3] == 1);
  for (int64_t i = 0; i < elements(y); i++) {
    double v = largest ? -INFINITY : 0;
    for (int64_t j = 0; j < x->dims[3]; j++) {
      double w = x->at[i * x->dims[3] + j];
      v = largest ? fmax(v, w) : v + w;
    }
    y->at[i] = v;
  }
  store(y);
  return 0;
}

static int matmul(descriptor *op, descriptor *pack) {
  value *a = open_value(part(op, 1520), pack), *b = open_value(part(op, 1521), pack), *y = open_value(part(op, 1522), pack);
  int64_t heads = y->dims[1], m = y->dims[2], n = y->dims[3], k = a->dims[3];
  NEED(a->dims[1] == heads && a->dims[2] == m && b->dims[2] == k && b->dims[3] == n && heads % b->dims[1] == 0 && a->dims[0] == b->dims[0]);
  for (int64_t g = 0; g < y->dims[0] * heads; g++) {
    int64_t h = g / heads * b->dims[1] + g % heads / (heads / b->dims[1]); // neighbours share a matrix
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        double v = 0;
        for (int64_t l = 0; l < k; l++) v += a->at[(g * m + i) * k + l] * b->at[(h * k + l) * n + j];
        y->at[(g * m + i) * n + j] = v;
      }
  }
  store(y);
  return 0;
}

static int convolve(descriptor *op, descriptor *pack) {
  descriptor *how = part(op, 702);
  value *x = open_value(part(op, 704), pack), *w = open_value(part(op, 703), pack), *y = open_value(part(op, 705), pack);
  int64_t *stride = find(how, 103)->values, *pad = find(how, 105)->values;
  int64_t groups = x->dims[1] / w->dims[1], K = y->dims[1], P = y->dims[2], Q = y->dims[3], C = w->dims[1], R = w->dims[2], S = w->dims[3];
  NEED(integer(how, 101, -1) == 1 && integer(how, 106, -1) == 2 && w->dims[0] == K && y->dims[0] == x->dims[0]);
  NEED(P == (x->dims[2] + 2 * pad[0] - R) / stride[0] + 1 && Q == (x->dims[3] + 2 * pad[1] - S) / stride[1] + 1);
  for (int64_t i = 0; i < elements(y); i++) {
    int64_t q = i % Q, p = i / Q % P, k = i / (Q * P) % K, image = i / (Q * P * K);
    double v = 0;
    for (int64_t c = 0; c < C; c++)
      for (int64_t r = 0; r < R; r++)
        for (int64_t s = 0; s < S; s++) {
          int64_t h = p * stride[0] + r - pad[0], l = q * stride[1] + s - pad[1];
          if (h < 0 || l < 0 || h >= x->dims[2] || l >= x->dims[3]) continue;
          v += x->at[((image * x->dims[1] + k / (K / groups) * C + c) * x->dims[2] + h) * x->dims[3] + l] * w->at[((k * C + c) * R + r) * S + s];
        }
    y->at[i] = v;
  }
  store(y);
  return 0;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t with) {
  CALL(cudnnBackendExecute);
  descriptor *config = part((descriptor *)plan, 401), *pack = (descriptor *)with;
  NEED(h == HANDLE && pack->kind == 16 && pack->final && find(pack, 1000)->n == find(pack, 1001)->n);
  void *workspace = part(pack, 1003);
  NEED(workspace);
  memset(workspace, 0x5a, 512);
  if (config->index == 43) rest(20);
  attribute *ops = find(config->graph, 801);
  int failed = 0;
  for (int64_t i = 0; i < ops->n && !failed; i++) {
    descriptor *op = ((descriptor **)ops->values)[i];
    failed = op->kind == 10 ? convolve(op, pack) : op->kind == 13 ? pointwise(op, pack) : op->kind == 19 ? matmul(op, pack) : op->kind == 22 ? reduce(op, pack) : INVALID;
  }
  while (count) free(values[--count].at);
  return failed;
}
