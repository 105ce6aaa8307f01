// A libcuda.so.1 that has no device, with which cuDNN compiles its kernels all the same: what is loaded
// is never executed.
#define ANSWER(name, code) int name(void) { return code; }
enum { NO_DEVICE = 100 };

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuLibraryLoadData(void **library) { *library = library; return 0; }
int cuLibraryGetKernel(void **kernel) { *kernel = kernel; return 0; }
int cuModuleLoadData(void **module) { *module = module; return 0; }
int cuModuleGetFunction(void **function) { *function = function; return 0; }
int cuKernelGetFunction(void **function) { *function = function; return 0; }
int cuKernelGetAttribute(int *value) { *value = 0; return 0; }
int cuOccupancyMaxPotentialClusterSize(int *blocks) { *blocks = 8; return 0; }
ANSWER(cuLibraryUnload, 0)
ANSWER(cuModuleUnload, 0)
ANSWER(cuTensorMapEncodeTiled, 0)
ANSWER(cuTensorMapEncodeIm2col, 0)
ANSWER(cuKernelSetAttribute, 0)
ANSWER(cuGetErrorName, NO_DEVICE)
ANSWER(cuGetErrorString, NO_DEVICE)
ANSWER(cuCtxGetCurrent, NO_DEVICE)
ANSWER(cuCtxGetLimit, NO_DEVICE)
ANSWER(cuCtxPopCurrent, NO_DEVICE)
ANSWER(cuCtxPushCurrent, NO_DEVICE)
ANSWER(cuStreamGetCtx, NO_DEVICE)
ANSWER(cuLinkCreate, NO_DEVICE)
ANSWER(cuLinkAddData, NO_DEVICE)
ANSWER(cuLinkComplete, NO_DEVICE)
ANSWER(cuLinkDestroy, NO_DEVICE)
ANSWER(cuLaunchKernel, NO_DEVICE)
ANSWER(cuLaunchCooperativeKernel, NO_DEVICE)
ANSWER(cuLaunchKernelEx, NO_DEVICE)
ANSWER(cuDeviceGetCount, NO_DEVICE)
ANSWER(cuDeviceGet, NO_DEVICE)
ANSWER(cuLibraryLoadFromFile, NO_DEVICE)
