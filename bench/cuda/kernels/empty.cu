#include "device.cuh"

// What it costs to launch a kernel.
KERNEL empty() {}
