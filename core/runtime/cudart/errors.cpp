// Errors: the last one of the process, and their names and texts.
#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

const char* name_of(cudaError_t error) {
#define NAME_OF(enumerator, value, text) \
    if (error == (value)) return #enumerator;
    LOCKSTEP_CUDA_ERRORS(NAME_OF)
#undef NAME_OF
    return "unrecognized error code";
}

// Who asks for an error's name or text has looked at it.
void saw(cudaError_t error) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    runtime.saw_error(name_of(error));
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaGetLastError() {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    return static_cast<cudaError_t>(runtime.last_error(true));
}

cudaError_t cudaPeekAtLastError() {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    return static_cast<cudaError_t>(runtime.last_error(false));
}

const char* cudaGetErrorName(cudaError_t error) {
    saw(error);
    return name_of(error);
}

const char* cudaGetErrorString(cudaError_t error) {
    saw(error);
#define TEXT_OF(enumerator, value, text) \
    if (error == (value)) return text;
    LOCKSTEP_CUDA_ERRORS(TEXT_OF)
#undef TEXT_OF
    return "unrecognized error code";
}

void lockstepCallSite(const char* file, int line, const char* arguments) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    runtime.say_site(file, line, arguments);
}
LOCKSTEP_INTERFACE_END
