// Marks and ranges of a program for a profiler: NVTX. Our header calls these; NVIDIA's asks the library that
// $NVTX_INJECTION64_PATH names for the functions of its tables, and finds this one.
#include <cstring>

#include "core/runtime/cudart/call.h"
#include "kernels/include/program/nvToolsExt.h"

using namespace lockstep::runtime;

namespace {

template <class Act>
auto with_runtime(Act&& act) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    return act(runtime);
}

std::string narrow(const wchar_t* text) {
    std::string name;
    for (; text && *text; ++text) name += *text < 128 ? static_cast<char>(*text) : '?';
    return name;
}

// A string that the program registered is kept as it is: its handle is its address.
std::string name_of(const nvtxEventAttributes_t* attributes) {
    if (!attributes) return "";
    const nvtxMessageValue_t& message = attributes->message;
    if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) return narrow(message.unicode);
    const char* const text = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED
                                 ? reinterpret_cast<const char*>(message.registered)
                                 : message.ascii;
    return attributes->messageType == NVTX_MESSAGE_UNKNOWN || !text ? "" : text;
}
nvtxStringHandle_t kept(const std::string& text) {
    char* const copy = new char[text.size() + 1];
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return reinterpret_cast<nvtxStringHandle_t>(copy);
}

// What NVIDIA's header calls, in the order of its tables (nvtxTypes.h: NvtxCallbackIdCore and NvtxCallbackIdCore2).
using Function = void (*)();
template <class Given>
Function as_function(Given* given) {
    return reinterpret_cast<Function>(given);
}
int push(const nvtxEventAttributes_t* attributes) {
    return nvtxRangePushEx(attributes);
}
uint64_t start(const nvtxEventAttributes_t* attributes) {
    return nvtxRangeStartEx(attributes);
}
void mark(const nvtxEventAttributes_t* attributes) {
    nvtxMarkEx(attributes);
}
int push_in(void*, const nvtxEventAttributes_t* attributes) {
    return push(attributes);
}
uint64_t start_in(void*, const nvtxEventAttributes_t* attributes) {
    return start(attributes);
}
void mark_in(void*, const nvtxEventAttributes_t* attributes) {
    mark(attributes);
}
int pop_in(void*) {
    return lockstepRangePop();
}
void end_in(void*, uint64_t range) {
    lockstepRangeEnd(range);
}
nvtxStringHandle_t register_in(void*, const char* text) {
    return kept(text ? text : "");
}
nvtxStringHandle_t register_wide_in(void*, const wchar_t* text) {
    return kept(narrow(text));
}

struct ExportTable {  // NvtxExportTableCallbacks
    size_t bytes = 0;
    int (*table)(int module, Function*** functions, unsigned* count) = nullptr;
};

}  // namespace

LOCKSTEP_INTERFACE

int lockstepRangePush(const char* name) {
    return with_runtime([&](Runtime& r) { return r.begin_mark(name ? name : ""); });
}
int lockstepRangePushW(const wchar_t* name) {
    return with_runtime([&](Runtime& r) { return r.begin_mark(narrow(name)); });
}
int lockstepRangePop() {
    return with_runtime([&](Runtime& r) { return r.end_mark(); });
}
uint64_t lockstepRangeStart(const char* name) {
    return with_runtime([&](Runtime& r) { return r.begin_range(name ? name : ""); });
}
uint64_t lockstepRangeStartW(const wchar_t* name) {
    return with_runtime([&](Runtime& r) { return r.begin_range(narrow(name)); });
}
void lockstepRangeEnd(uint64_t range) {
    with_runtime([&](Runtime& r) { r.end_range(range); });
}
void lockstepMark(const char* name) {
    with_runtime([&](Runtime& r) { r.note_mark(name ? name : ""); });
}
void lockstepMarkW(const wchar_t* name) {
    with_runtime([&](Runtime& r) { r.note_mark(narrow(name)); });
}
uint64_t lockstepRangeStartEx(const nvtxEventAttributes_t* attributes) {
    return lockstepRangeStart(name_of(attributes).c_str());
}
int lockstepRangePushEx(const nvtxEventAttributes_t* attributes) {
    return lockstepRangePush(name_of(attributes).c_str());
}
void lockstepMarkEx(const nvtxEventAttributes_t* attributes) {
    lockstepMark(name_of(attributes).c_str());
}
nvtxStringHandle_t lockstepRegisterString(const char* text) {
    return kept(text ? text : "");
}

int InitializeInjectionNvtx2(const void* (*get_table)(uint32_t)) {
    constexpr uint32_t callbacks = 1;
    constexpr int core = 1, core2 = 5;
    const auto* const tables = static_cast<const ExportTable*>(get_table(callbacks));
    if (!tables) return 0;
    const auto put = [&](int module, std::initializer_list<Function> functions) {
        Function** table = nullptr;
        unsigned count = 0;
        if (tables->table(module, &table, &count) == 0) return;
        unsigned k = 0;
        for (const Function function : functions)
            if (++k < count && function && table[k]) *table[k] = function;
    };
    put(core,
        {as_function(mark), as_function(lockstepMark), as_function(lockstepMarkW), as_function(start),
         as_function(lockstepRangeStart), as_function(lockstepRangeStartW), as_function(lockstepRangeEnd), as_function(push),
         as_function(lockstepRangePush), as_function(lockstepRangePushW), as_function(lockstepRangePop)});
    put(core2, {as_function(mark_in), as_function(start_in), as_function(end_in), as_function(push_in), as_function(pop_in),
                nullptr, nullptr, nullptr, nullptr, as_function(register_in), as_function(register_wide_in)});
    return 1;
}

LOCKSTEP_INTERFACE_END
