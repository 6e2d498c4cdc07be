// Of the driver API, its types: the rest of it is not a program's of the runtime API.
#pragma once
#include "cuda_runtime_api.h"
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUarray_st* CUarray;
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;
#ifndef LOCKSTEP_TENSOR_MAP
#define LOCKSTEP_TENSOR_MAP
typedef struct CUtensorMap_st {
    __attribute__((aligned(128))) unsigned long long opaque[16];
} CUtensorMap;
#endif
