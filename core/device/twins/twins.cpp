// Which copy of a twin runs: the families' rows, put together for this machine. FAMILIES and WIDE_FAMILIES name the files of
// the rooms, FAMILY(activation) FAMILY(attention) ...; twins.cmake writes them down from the folders.
#include "core/device/twins/twins.h"

#include <array>
#include <vector>

namespace lockstep::device::twins {

#define FAMILY(name) std::span<const Kernel> name();
namespace portable {
LOCKSTEP_FAMILIES
PlainProducts plain_products();
}  // namespace portable
namespace avx2 {
LOCKSTEP_FAMILIES
PlainProducts plain_products();
}  // namespace avx2
namespace avx512 {
LOCKSTEP_WIDE_FAMILIES
}
#undef FAMILY

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
}  // namespace

void* scratch_bytes(int slot, size_t bytes) {
    thread_local std::array<std::vector<std::max_align_t>, 4> slots;
    std::vector<std::max_align_t>& memory = slots.at(static_cast<size_t>(slot));
    const size_t units = (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    if (memory.size() < units) memory.resize(units);
    return memory.data();
}

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> rows;
    const auto add = [&](std::span<const Kernel> family) { rows.insert(rows.end(), family.begin(), family.end()); };
#if defined(LOCKSTEP_TWINS_AVX2)
    if (has_avx2()) {
#define FAMILY(name) add(avx2::name());
        LOCKSTEP_FAMILIES
#undef FAMILY
        for (const TwinPair& pair : twins_of_both_widths())
            for (Kernel& row : rows)
                if (row.name == pair.base) row.twins.f32 = pair.avx512;
        return rows;
    }
#endif
#define FAMILY(name) add(portable::name());
    LOCKSTEP_FAMILIES
#undef FAMILY
    return rows;
}

const char* instructions() {
    return has_avx512() ? "AVX-512" : has_avx2() ? "AVX2" : "portable";
}

const PlainProducts& plain_products() {
#if defined(LOCKSTEP_TWINS_AVX2)
    static const PlainProducts products = has_avx2() ? avx2::plain_products() : portable::plain_products();
#else
    static const PlainProducts products = portable::plain_products();
#endif
    return products;
}

std::vector<TwinPair> twins_of_both_widths() {
    std::vector<TwinPair> pairs;
#if defined(LOCKSTEP_TWINS_AVX2)
    if (!has_avx512()) return pairs;
    const auto pair = [&](std::span<const Kernel> narrow, std::span<const Kernel> wide) {
        for (size_t i = 0; i < wide.size(); ++i) pairs.push_back({wide[i].name, narrow[i].twins.f32, wide[i].twins.f32});
    };
#define FAMILY(name) pair(avx2::name(), avx512::name());
    LOCKSTEP_WIDE_FAMILIES
#undef FAMILY
#endif
    return pairs;
}

}  // namespace lockstep::device::twins
