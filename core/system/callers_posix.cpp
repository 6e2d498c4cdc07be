#include "core/system/callers.h"

#ifdef __linux__
#include <link.h>
#include <unwind.h>

#include <algorithm>

#include "core/system/system.h"

namespace lockstep::system {
namespace {

struct LoadedModule {
    uint64_t begin = 0, end = 0, bias = 0;
    const char* file = nullptr;
};

struct WantedModule {
    uint64_t address = 0;
    LoadedModule found;
};

// The module whose segments hold the address.
int look_at_module(dl_phdr_info* info, size_t, void* data) {
    auto& wanted = *static_cast<WantedModule*>(data);
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t k = 0; k < info->dlpi_phnum; ++k) {
        const auto& segment = info->dlpi_phdr[k];
        if (segment.p_type != PT_LOAD) continue;
        begin = std::min<uint64_t>(begin, info->dlpi_addr + segment.p_vaddr);
        end = std::max<uint64_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    if (wanted.address < begin || wanted.address >= end) return 0;
    wanted.found = {begin, end, info->dlpi_addr, info->dlpi_name};
    return 1;
}

LoadedModule module_of(uint64_t address) {
    WantedModule wanted{address, {}};
    dl_iterate_phdr(look_at_module, &wanted);
    return wanted.found;
}

struct FrameWalk {
    std::span<CallerFrame> frames;
    LoadedModule own;
    size_t found = 0, passed = 0;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* data) {
    constexpr size_t most_passed = 64;
    auto& walk = *static_cast<FrameWalk*>(data);
    int is_exact = 0;
    const uint64_t address = _Unwind_GetIPInfo(context, &is_exact);
    if (address == 0 || ++walk.passed > most_passed) return _URC_END_OF_STACK;
    if (walk.found == 0 && address >= walk.own.begin && address < walk.own.end) return _URC_NO_REASON;
    walk.frames[walk.found++] = {is_exact ? address : address - 1, _Unwind_GetRegionStart(context)};
    return walk.found == walk.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

size_t callers(std::span<CallerFrame> frames) {
    static const LoadedModule own = module_of(reinterpret_cast<uint64_t>(&module_of));
    if (frames.empty()) return 0;
    FrameWalk walk{frames, own};
    _Unwind_Backtrace(take_frame, &walk);
    return walk.found;
}

ModulePlace module_place(uint64_t address) {
    const LoadedModule module = module_of(address);
    if (module.end == 0) return {};
    const bool is_library = module.file && *module.file;
    return {is_library ? module.file : own_executable().string(), address - module.bias};
}

}  // namespace lockstep::system
#else
namespace lockstep::system {

size_t callers(std::span<CallerFrame>) {
    return 0;
}

ModulePlace module_place(uint64_t) {
    return {};
}

}  // namespace lockstep::system
#endif
