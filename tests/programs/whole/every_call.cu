// Every function of CUDA 13's runtime is there, with the names that compilers and earlier CUDAs add; what the modelled GPU does
// not have says so.
#include <dlfcn.h>

#include <cstdio>

const char* const names[] = {
    "__cudaGetKernel", "__cudaInitModule", "__cudaLaunchKernel", "__cudaRegisterManagedVar", "__cudaRegisterTexture",
    "cudaArrayGetInfo", "cudaArrayGetMemoryRequirements", "cudaArrayGetPlane", "cudaArrayGetSparseProperties",
    "cudaBindTexture", "cudaChooseDevice", "cudaCreateChannelDesc", "cudaCreateSurfaceObject", "cudaCreateTextureObject",
    "cudaCtxResetPersistingL2Cache", "cudaDestroyExternalMemory", "cudaDestroyExternalSemaphore",
    "cudaDestroySurfaceObject", "cudaDestroyTextureObject", "cudaDeviceCanAccessPeer", "cudaDeviceDisablePeerAccess",
    "cudaDeviceEnablePeerAccess", "cudaDeviceFlushGPUDirectRDMAWrites", "cudaDeviceGetAttribute", "cudaDeviceGetByPCIBusId",
    "cudaDeviceGetCacheConfig", "cudaDeviceGetDefaultMemPool", "cudaDeviceGetGraphMemAttribute",
    "cudaDeviceGetHostAtomicCapabilities", "cudaDeviceGetLimit", "cudaDeviceGetMemPool", "cudaDeviceGetNvSciSyncAttributes",
    "cudaDeviceGetP2PAtomicCapabilities", "cudaDeviceGetP2PAttribute", "cudaDeviceGetPCIBusId",
    "cudaDeviceGetSharedMemConfig", "cudaDeviceGetStreamPriorityRange", "cudaDeviceGetTexture1DLinearMaxWidth",
    "cudaDeviceGraphMemTrim", "cudaDeviceRegisterAsyncNotification", "cudaDeviceReset", "cudaDeviceSetCacheConfig",
    "cudaDeviceSetGraphMemAttribute", "cudaDeviceSetLimit", "cudaDeviceSetMemPool", "cudaDeviceSetSharedMemConfig",
    "cudaDeviceSynchronize", "cudaDeviceUnregisterAsyncNotification", "cudaDriverGetVersion", "cudaEventCreate",
    "cudaEventCreateWithFlags", "cudaEventDestroy", "cudaEventElapsedTime", "cudaEventQuery", "cudaEventRecord",
    "cudaEventRecordWithFlags", "cudaEventSynchronize", "cudaExternalMemoryGetMappedBuffer",
    "cudaExternalMemoryGetMappedMipmappedArray", "cudaFree", "cudaFreeArray", "cudaFreeAsync", "cudaFreeHost",
    "cudaFreeMipmappedArray", "cudaFuncGetAttributes", "cudaFuncGetName", "cudaFuncGetParamInfo", "cudaFuncSetAttribute",
    "cudaFuncSetCacheConfig", "cudaFuncSetSharedMemConfig", "cudaGetChannelDesc", "cudaGetDevice", "cudaGetDeviceCount",
    "cudaGetDeviceFlags", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2", "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion", "cudaGetErrorName", "cudaGetErrorString", "cudaGetExportTable",
    "cudaGetFuncBySymbol", "cudaGetKernel", "cudaGetLastError", "cudaGetMipmappedArrayLevel",
    "cudaGetSurfaceObjectResourceDesc", "cudaGetSymbolAddress", "cudaGetSymbolSize", "cudaGetTextureObjectResourceDesc",
    "cudaGetTextureObjectResourceViewDesc", "cudaGetTextureObjectTextureDesc", "cudaGraphAddChildGraphNode",
    "cudaGraphAddDependencies", "cudaGraphAddEmptyNode", "cudaGraphAddEventRecordNode", "cudaGraphAddEventWaitNode",
    "cudaGraphAddExternalSemaphoresSignalNode", "cudaGraphAddExternalSemaphoresWaitNode", "cudaGraphAddHostNode",
    "cudaGraphAddKernelNode", "cudaGraphAddMemAllocNode", "cudaGraphAddMemFreeNode", "cudaGraphAddMemcpyNode",
    "cudaGraphAddMemcpyNode1D", "cudaGraphAddMemcpyNodeFromSymbol", "cudaGraphAddMemcpyNodeToSymbol",
    "cudaGraphAddMemsetNode", "cudaGraphAddNode", "cudaGraphChildGraphNodeGetGraph", "cudaGraphClone",
    "cudaGraphConditionalHandleCreate", "cudaGraphCreate", "cudaGraphDebugDotPrint", "cudaGraphDestroy",
    "cudaGraphDestroyNode", "cudaGraphEventRecordNodeGetEvent", "cudaGraphEventRecordNodeSetEvent",
    "cudaGraphEventWaitNodeGetEvent", "cudaGraphEventWaitNodeSetEvent", "cudaGraphExecChildGraphNodeSetParams",
    "cudaGraphExecDestroy", "cudaGraphExecEventRecordNodeSetEvent", "cudaGraphExecEventWaitNodeSetEvent",
    "cudaGraphExecExternalSemaphoresSignalNodeSetParams", "cudaGraphExecExternalSemaphoresWaitNodeSetParams",
    "cudaGraphExecGetFlags", "cudaGraphExecHostNodeSetParams", "cudaGraphExecKernelNodeSetParams",
    "cudaGraphExecMemcpyNodeSetParams", "cudaGraphExecMemcpyNodeSetParams1D", "cudaGraphExecMemcpyNodeSetParamsFromSymbol",
    "cudaGraphExecMemcpyNodeSetParamsToSymbol", "cudaGraphExecMemsetNodeSetParams", "cudaGraphExecNodeSetParams",
    "cudaGraphExecUpdate", "cudaGraphExternalSemaphoresSignalNodeGetParams",
    "cudaGraphExternalSemaphoresSignalNodeSetParams", "cudaGraphExternalSemaphoresWaitNodeGetParams",
    "cudaGraphExternalSemaphoresWaitNodeSetParams", "cudaGraphGetEdges", "cudaGraphGetNodes", "cudaGraphGetRootNodes",
    "cudaGraphHostNodeGetParams", "cudaGraphHostNodeSetParams", "cudaGraphInstantiate", "cudaGraphInstantiateWithFlags",
    "cudaGraphInstantiateWithParams", "cudaGraphKernelNodeCopyAttributes", "cudaGraphKernelNodeGetAttribute",
    "cudaGraphKernelNodeGetParams", "cudaGraphKernelNodeSetAttribute", "cudaGraphKernelNodeSetParams", "cudaGraphLaunch",
    "cudaGraphMemAllocNodeGetParams", "cudaGraphMemFreeNodeGetParams", "cudaGraphMemcpyNodeGetParams",
    "cudaGraphMemcpyNodeSetParams", "cudaGraphMemcpyNodeSetParams1D", "cudaGraphMemcpyNodeSetParamsFromSymbol",
    "cudaGraphMemcpyNodeSetParamsToSymbol", "cudaGraphMemsetNodeGetParams", "cudaGraphMemsetNodeSetParams",
    "cudaGraphNodeFindInClone", "cudaGraphNodeGetDependencies", "cudaGraphNodeGetDependentNodes", "cudaGraphNodeGetEnabled",
    "cudaGraphNodeGetType", "cudaGraphNodeSetEnabled", "cudaGraphNodeSetParams", "cudaGraphReleaseUserObject",
    "cudaGraphRemoveDependencies", "cudaGraphRetainUserObject", "cudaGraphUpload", "cudaGraphicsMapResources",
    "cudaGraphicsResourceGetMappedMipmappedArray", "cudaGraphicsResourceGetMappedPointer",
    "cudaGraphicsResourceSetMapFlags", "cudaGraphicsSubResourceGetMappedArray", "cudaGraphicsUnmapResources",
    "cudaGraphicsUnregisterResource", "cudaHostAlloc", "cudaHostGetDevicePointer", "cudaHostGetFlags", "cudaHostRegister",
    "cudaHostUnregister", "cudaImportExternalMemory", "cudaImportExternalSemaphore", "cudaInitDevice",
    "cudaIpcCloseMemHandle", "cudaIpcGetEventHandle", "cudaIpcGetMemHandle", "cudaIpcOpenEventHandle",
    "cudaIpcOpenMemHandle", "cudaKernelSetAttributeForDevice", "cudaLaunchCooperativeKernel", "cudaLaunchHostFunc",
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernel_ptsz", "cudaLibraryEnumerateKernels",
    "cudaLibraryGetGlobal", "cudaLibraryGetKernel", "cudaLibraryGetKernelCount", "cudaLibraryGetManaged",
    "cudaLibraryGetUnifiedFunction", "cudaLibraryLoadData", "cudaLibraryLoadFromFile", "cudaLibraryUnload",
    "cudaLogsCurrent", "cudaLogsDumpToFile", "cudaLogsDumpToMemory", "cudaLogsRegisterCallback",
    "cudaLogsUnregisterCallback", "cudaMalloc", "cudaMalloc3D", "cudaMalloc3DArray", "cudaMallocArray", "cudaMallocAsync",
    "cudaMallocFromPoolAsync", "cudaMallocHost", "cudaMallocManaged", "cudaMallocMipmappedArray", "cudaMallocPitch",
    "cudaMemAdvise", "cudaMemDiscardAndPrefetchBatchAsync", "cudaMemDiscardBatchAsync", "cudaMemGetDefaultMemPool",
    "cudaMemGetInfo", "cudaMemGetMemPool", "cudaMemPoolCreate", "cudaMemPoolDestroy", "cudaMemPoolExportPointer",
    "cudaMemPoolExportToShareableHandle", "cudaMemPoolGetAccess", "cudaMemPoolGetAttribute",
    "cudaMemPoolImportFromShareableHandle", "cudaMemPoolImportPointer", "cudaMemPoolSetAccess", "cudaMemPoolSetAttribute",
    "cudaMemPoolTrimTo", "cudaMemPrefetchAsync", "cudaMemPrefetchBatchAsync", "cudaMemRangeGetAttribute",
    "cudaMemRangeGetAttributes", "cudaMemSetMemPool", "cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy2DArrayToArray",
    "cudaMemcpy2DAsync", "cudaMemcpy2DFromArray", "cudaMemcpy2DFromArrayAsync", "cudaMemcpy2DToArray",
    "cudaMemcpy2DToArrayAsync", "cudaMemcpy3D", "cudaMemcpy3DAsync", "cudaMemcpy3DBatchAsync", "cudaMemcpy3DPeer",
    "cudaMemcpy3DPeerAsync", "cudaMemcpyArrayToArray", "cudaMemcpyAsync", "cudaMemcpyAsync_ptsz", "cudaMemcpyBatchAsync",
    "cudaMemcpyFromArray", "cudaMemcpyFromArrayAsync", "cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync",
    "cudaMemcpyPeer", "cudaMemcpyPeerAsync", "cudaMemcpyToArray", "cudaMemcpyToArrayAsync", "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync", "cudaMemcpy_ptds", "cudaMemset", "cudaMemset2D", "cudaMemset2DAsync", "cudaMemset3D",
    "cudaMemset3DAsync", "cudaMemsetAsync", "cudaMipmappedArrayGetMemoryRequirements",
    "cudaMipmappedArrayGetSparseProperties", "cudaOccupancyAvailableDynamicSMemPerBlock",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyMaxActiveClusters", "cudaOccupancyMaxPotentialClusterSize", "cudaPeekAtLastError",
    "cudaPointerGetAttributes", "cudaProfilerStart", "cudaProfilerStop", "cudaRuntimeGetVersion", "cudaSetDevice",
    "cudaSetDeviceFlags", "cudaSetValidDevices", "cudaSignalExternalSemaphoresAsync", "cudaStreamAddCallback",
    "cudaStreamAttachMemAsync", "cudaStreamBeginCapture", "cudaStreamBeginCaptureToGraph", "cudaStreamCopyAttributes",
    "cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority", "cudaStreamDestroy",
    "cudaStreamEndCapture", "cudaStreamGetAttribute", "cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_v2",
    "cudaStreamGetDevice", "cudaStreamGetFlags", "cudaStreamGetId", "cudaStreamGetPriority", "cudaStreamIsCapturing",
    "cudaStreamQuery", "cudaStreamSetAttribute", "cudaStreamSynchronize", "cudaStreamUpdateCaptureDependencies",
    "cudaStreamWaitEvent", "cudaThreadExchangeStreamCaptureMode", "cudaThreadSynchronize", "cudaUserObjectCreate",
    "cudaUserObjectRelease", "cudaUserObjectRetain", "cudaWaitExternalSemaphoresAsync",
};

int main() {
    int missing = 0;
    for (const char* name : names)
        if (!dlsym(RTLD_DEFAULT, name)) missing += printf("FAIL there is no %s\n", name) > 0;
    if (missing > 0) return 1;
    cudaIpcMemHandle_t handle;
    void* pointer;
    if (cudaMalloc(&pointer, 4) != cudaSuccess) return printf("FAIL no memory\n"), 1;
    if (cudaIpcGetMemHandle(&handle, pointer) != cudaErrorNotSupported || cudaGetLastError() != cudaErrorNotSupported)
        return printf("FAIL memory of other processes\n"), 1;
    cudaFree(pointer);
    printf("PASS\n");
}
