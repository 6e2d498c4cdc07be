// What the modelled GPU has no answer to: other processes' memory, graphics, external memory and semaphores, copies in
// batches, the driver behind the runtime. A program links, each call returns cudaErrorNotSupported, and the report has its
// name.
#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

// clang-format off
#define LOCKSTEP_UNSUPPORTED_CALLS(CALL) \
    CALL(__cudaGetProcAddress) CALL(cudaArrayGetPlane) CALL(cudaArrayGetSparseProperties) CALL(cudaConfigureCall)         \
    CALL(cudaDestroyExternalMemory) CALL(cudaDestroyExternalSemaphore) CALL(cudaDeviceFlushGPUDirectRDMAWrites)           \
    CALL(cudaDeviceGetHostAtomicCapabilities) CALL(cudaDeviceGetNvSciSyncAttributes)                                      \
    CALL(cudaDeviceGetP2PAtomicCapabilities) CALL(cudaDeviceRegisterAsyncNotification)                                    \
    CALL(cudaDeviceUnregisterAsyncNotification) CALL(cudaEGLStreamConsumerAcquireFrame)                                   \
    CALL(cudaEGLStreamConsumerConnect) CALL(cudaEGLStreamConsumerConnectWithFlags) CALL(cudaEGLStreamConsumerDisconnect)  \
    CALL(cudaEGLStreamConsumerReleaseFrame) CALL(cudaEGLStreamProducerConnect) CALL(cudaEGLStreamProducerDisconnect)      \
    CALL(cudaEGLStreamProducerPresentFrame) CALL(cudaEGLStreamProducerReturnFrame) CALL(cudaEventCreateFromEGLSync)       \
    CALL(cudaExternalMemoryGetMappedBuffer) CALL(cudaExternalMemoryGetMappedMipmappedArray) CALL(cudaGLGetDevices)        \
    CALL(cudaGLMapBufferObject) CALL(cudaGLMapBufferObjectAsync) CALL(cudaGLRegisterBufferObject)                         \
    CALL(cudaGLSetBufferObjectMapFlags) CALL(cudaGLSetGLDevice) CALL(cudaGLUnmapBufferObject)                             \
    CALL(cudaGLUnmapBufferObjectAsync) CALL(cudaGLUnregisterBufferObject) CALL(cudaGetDriverEntryPoint)                   \
    CALL(cudaGetDriverEntryPointByVersion) CALL(cudaGetDriverEntryPointByVersion_ptsz) CALL(cudaGetDriverEntryPoint_ptsz) \
    CALL(cudaGetExportTable) CALL(cudaGraphAddExternalSemaphoresSignalNode) CALL(cudaGraphAddExternalSemaphoresWaitNode)  \
    CALL(cudaGraphConditionalHandleCreate) CALL(cudaGraphConditionalHandleCreate_v2)                                      \
    CALL(cudaGraphExecExternalSemaphoresSignalNodeSetParams) CALL(cudaGraphExecExternalSemaphoresWaitNodeSetParams)       \
    CALL(cudaGraphExternalSemaphoresSignalNodeGetParams) CALL(cudaGraphExternalSemaphoresSignalNodeSetParams)             \
    CALL(cudaGraphExternalSemaphoresWaitNodeGetParams) CALL(cudaGraphExternalSemaphoresWaitNodeSetParams)                 \
    CALL(cudaGraphicsEGLRegisterImage) CALL(cudaGraphicsGLRegisterBuffer) CALL(cudaGraphicsGLRegisterImage)               \
    CALL(cudaGraphicsMapResources) CALL(cudaGraphicsResourceGetMappedEglFrame)                                            \
    CALL(cudaGraphicsResourceGetMappedMipmappedArray) CALL(cudaGraphicsResourceGetMappedPointer)                          \
    CALL(cudaGraphicsResourceSetMapFlags) CALL(cudaGraphicsSubResourceGetMappedArray) CALL(cudaGraphicsUnmapResources)    \
    CALL(cudaGraphicsUnregisterResource) CALL(cudaGraphicsVDPAURegisterOutputSurface)                                     \
    CALL(cudaGraphicsVDPAURegisterVideoSurface) CALL(cudaImportExternalMemory) CALL(cudaImportExternalSemaphore)          \
    CALL(cudaIpcCloseMemHandle) CALL(cudaIpcGetEventHandle) CALL(cudaIpcGetMemHandle) CALL(cudaIpcOpenEventHandle)        \
    CALL(cudaIpcOpenMemHandle) CALL(cudaLaunch) CALL(cudaLaunchCooperativeKernelMultiDevice) CALL(cudaLibraryGetManaged)  \
    CALL(cudaLibraryGetUnifiedFunction) CALL(cudaLogsCurrent) CALL(cudaLogsDumpToFile) CALL(cudaLogsDumpToMemory)         \
    CALL(cudaLogsRegisterCallback) CALL(cudaLogsUnregisterCallback) CALL(cudaMemDiscardAndPrefetchBatchAsync)             \
    CALL(cudaMemDiscardAndPrefetchBatchAsync_ptsz) CALL(cudaMemDiscardBatchAsync) CALL(cudaMemDiscardBatchAsync_ptsz)     \
    CALL(cudaMemPoolExportPointer) CALL(cudaMemPoolExportToShareableHandle) CALL(cudaMemPoolImportFromShareableHandle)    \
    CALL(cudaMemPoolImportPointer) CALL(cudaMemPrefetchBatchAsync) CALL(cudaMemPrefetchBatchAsync_ptsz)                   \
    CALL(cudaMemcpy3DBatchAsync) CALL(cudaMemcpy3DBatchAsync_ptsz) CALL(cudaMemcpyBatchAsync)                             \
    CALL(cudaMemcpyBatchAsync_ptsz) CALL(cudaMipmappedArrayGetSparseProperties) CALL(cudaProfilerInitialize)              \
    CALL(cudaSetDoubleForDevice) CALL(cudaSetDoubleForHost) CALL(cudaSetupArgument)                                       \
    CALL(cudaSignalExternalSemaphoresAsync) CALL(cudaSignalExternalSemaphoresAsync_ptsz)                                  \
    CALL(cudaSignalExternalSemaphoresAsync_v2) CALL(cudaSignalExternalSemaphoresAsync_v2_ptsz) CALL(cudaVDPAUGetDevice)   \
    CALL(cudaVDPAUSetVDPAUDevice) CALL(cudaWaitExternalSemaphoresAsync) CALL(cudaWaitExternalSemaphoresAsync_ptsz)        \
    CALL(cudaWaitExternalSemaphoresAsync_v2) CALL(cudaWaitExternalSemaphoresAsync_v2_ptsz)
// clang-format on

LOCKSTEP_INTERFACE

#define CALL(name)                      \
    cudaError_t name() {                \
        return not_supported(__func__); \
    }
LOCKSTEP_UNSUPPORTED_CALLS(CALL)
#undef CALL

// Of the compiler's start-up code, for variables of the host that kernels see: they have no place on the modelled GPU.
void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}
void __cudaRegisterUnifiedTable(void**, const void*) {}
LOCKSTEP_INTERFACE_END
