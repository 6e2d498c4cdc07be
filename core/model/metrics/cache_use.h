// What a memory instruction's modifiers say of the caches, as the PTX ISA defines its cache operators and memory orders.
#pragma once
#include <cstdint>
#include <string_view>

namespace lockstep::model {

enum class CacheUse : uint8_t {
    normal,       // no modifier: what the GPU does by default
    looks_in_l1,  // .ca, .nc: also where the GPU caches no loads by default
    l2_only,      // .cg, .cv, .volatile, .mmio, and .relaxed or stronger beyond the block; .L1::no_allocate
    evict_first,  // .cs, .lu, .L1::evict_first: the line is the next to leave
};

// `spelling`: the instruction's name with its modifiers, "ld.global.cg.f32".
CacheUse cache_use_of(std::string_view spelling);

// "ld.global.cg.f32" of the line "@%p1 ld.global.cg.f32 %f1, [%rd1];" for the name "ld"; empty where it is not there.
std::string_view spelling_in(std::string_view line, std::string_view name);

}  // namespace lockstep::model
