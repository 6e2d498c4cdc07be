// NVTX: marks and ranges of a program for a profiler, which mark the trace of `lockstep run --trace`.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration* nvtxStringHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#ifdef __cplusplus
extern "C" {
#endif
int lockstepRangePush(const char* name);
int lockstepRangePushW(const wchar_t* name);
int lockstepRangePushEx(const nvtxEventAttributes_t* attributes);
int lockstepRangePop(void);
uint64_t lockstepRangeStart(const char* name);
uint64_t lockstepRangeStartW(const wchar_t* name);
uint64_t lockstepRangeStartEx(const nvtxEventAttributes_t* attributes);
void lockstepRangeEnd(uint64_t range);
void lockstepMark(const char* name);
void lockstepMarkW(const wchar_t* name);
void lockstepMarkEx(const nvtxEventAttributes_t* attributes);
nvtxStringHandle_t lockstepRegisterString(const char* text);
#ifdef __cplusplus
}
#endif
static inline int nvtxRangePushA(const char* text) { return lockstepRangePush(text); }
static inline int nvtxRangePushW(const wchar_t* text) { return lockstepRangePushW(text); }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) { return lockstepRangePushEx(attributes); }
static inline int nvtxRangePop(void) { return lockstepRangePop(); }
static inline nvtxRangeId_t nvtxRangeStartA(const char* text) { return lockstepRangeStart(text); }
static inline nvtxRangeId_t nvtxRangeStartW(const wchar_t* text) { return lockstepRangeStartW(text); }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) {
    return lockstepRangeStartEx(attributes);
}
static inline void nvtxRangeEnd(nvtxRangeId_t range) { lockstepRangeEnd(range); }
static inline void nvtxMarkA(const char* text) { lockstepMark(text); }
static inline void nvtxMarkW(const wchar_t* text) { lockstepMarkW(text); }
static inline void nvtxMarkEx(const nvtxEventAttributes_t* attributes) { lockstepMarkEx(attributes); }
static inline void nvtxNameOsThreadA(uint32_t thread, const char* text) { (void)thread, (void)text; }
static inline void nvtxNameCategoryA(uint32_t category, const char* text) { (void)category, (void)text; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* text) { return (void)text, (nvtxDomainHandle_t)0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
    return (void)domain, lockstepRegisterString(text);
}
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    return (void)domain, lockstepRangePushEx(attributes);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, lockstepRangePop(); }
static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    (void)domain, lockstepMarkEx(attributes);
}
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
