// Thrust defines a function of its own called cudaMallocManaged, a name that lockstep_call_sites.h makes a macro. nvcc finds
// this file first by -I kernels/include/program/nvcc.
#pragma once
#pragma push_macro("cudaMallocManaged")
#undef cudaMallocManaged
#include_next <thrust/system/cuda/memory_resource.h>
#pragma pop_macro("cudaMallocManaged")
