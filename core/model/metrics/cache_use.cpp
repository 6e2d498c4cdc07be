// Modifiers are the words between the dots of the instruction's name.
#include "core/model/metrics/cache_use.h"

#include <algorithm>

namespace lockstep::model {
namespace {
bool has(std::string_view spelling, std::string_view word) {  // ".cg" in "ld.global.cg.f32"
    for (size_t at = spelling.find(word); at != std::string_view::npos; at = spelling.find(word, at + 1)) {
        const size_t end = at + word.size();
        if (end == spelling.size() || spelling[end] == '.') return true;
    }
    return false;
}
}  // namespace

CacheUse cache_use_of(std::string_view spelling) {
    const bool strong = has(spelling, ".relaxed") || has(spelling, ".acquire") || has(spelling, ".release");
    if (has(spelling, ".cg") || has(spelling, ".cv") || has(spelling, ".volatile") || has(spelling, ".mmio") ||
        has(spelling, ".L1::no_allocate") || (strong && !has(spelling, ".cta")))
        return CacheUse::l2_only;
    if (has(spelling, ".cs") || has(spelling, ".lu") || has(spelling, ".L1::evict_first")) return CacheUse::evict_first;
    if (has(spelling, ".ca") || has(spelling, ".nc")) return CacheUse::looks_in_l1;
    return CacheUse::normal;
}

std::string_view spelling_in(std::string_view line, std::string_view name) {
    for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
        const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t' || line[at - 1] == ';' ||
                            line[at - 1] == '{' || line[at - 1] == '}' || line[at - 1] == ':';
        if (!begins || at + name.size() >= line.size() || line[at + name.size()] != '.') continue;
        const size_t end = line.find_first_of(" \t;\r\n", at);
        return line.substr(at, std::min(end, line.size()) - at);
    }
    return {};
}

}  // namespace lockstep::model
