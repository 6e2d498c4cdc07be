#include "core/device/twins/twins.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace lockstep::device::twins {

namespace {
bool has_avx2() {
#if defined(LOCKSTEP_TWINS_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

bool has_avx512() {
#if defined(LOCKSTEP_TWINS_AVX2)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

std::unordered_map<std::string_view, Run> collect() {
    std::unordered_map<std::string_view, Run> all;
    const auto add = [&](std::span<const Twin> family) {
        for (const Twin& twin : family) all.emplace(twin.kernel, twin.run);
    };
#if defined(LOCKSTEP_TWINS_AVX2)
#define LOCKSTEP_FAMILY(name) add(avx512::name());
    if (has_avx512()) {  // the first of a name stays
        LOCKSTEP_WIDE_TWIN_FAMILIES(LOCKSTEP_FAMILY)
    }
#undef LOCKSTEP_FAMILY
    if (has_avx2()) {
#define LOCKSTEP_FAMILY(name) add(avx2::name());
        LOCKSTEP_TWIN_FAMILIES(LOCKSTEP_FAMILY)
#undef LOCKSTEP_FAMILY
        return all;
    }
#endif
#define LOCKSTEP_FAMILY(name) add(portable::name());
    LOCKSTEP_TWIN_FAMILIES(LOCKSTEP_FAMILY)
#undef LOCKSTEP_FAMILY
    return all;
}
}  // namespace

void* scratch_bytes(int slot, size_t bytes) {
    thread_local std::array<std::vector<std::max_align_t>, 4> slots;
    std::vector<std::max_align_t>& memory = slots.at(static_cast<size_t>(slot));
    const size_t units = (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    if (memory.size() < units) memory.resize(units);
    return memory.data();
}

Run twin_of(std::string_view kernel) {
    static const auto all = collect();
    const auto found = all.find(kernel);
    return found == all.end() ? nullptr : found->second;
}

const char* instructions() {
    return has_avx512() ? "AVX-512" : has_avx2() ? "AVX2" : "portable";
}

std::vector<TwinPair> twins_of_both_widths() {
    std::vector<TwinPair> pairs;
#if defined(LOCKSTEP_TWINS_AVX2)
    if (!has_avx512()) return pairs;
    const auto pair = [&](std::span<const Twin> narrow, std::span<const Twin> wide) {
        for (const Twin& twin : wide)
            for (const Twin& other : narrow)
                if (twin.kernel == other.kernel) pairs.push_back({twin.kernel, other.run, twin.run});
    };
#define LOCKSTEP_FAMILY(name) pair(avx2::name(), avx512::name());
    LOCKSTEP_WIDE_TWIN_FAMILIES(LOCKSTEP_FAMILY)
#undef LOCKSTEP_FAMILY
#endif
    return pairs;
}

}  // namespace lockstep::device::twins
