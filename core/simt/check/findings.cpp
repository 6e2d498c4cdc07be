// See findings.h: keeping warnings, and who holds what. The looks at barriers are in findings_barrier.cpp.
#include "core/simt/check/findings.h"

#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/undefined.h"

namespace lockstep::simt {

namespace {

constexpr size_t most_warnings = 50;
constexpr size_t most_holders = 1 << 16;

}  // namespace

void begin_findings(Grid& grid) {
    grid.findings = std::make_shared<Findings>();
}

void add_warning(const Grid& grid, const std::string& place, Fault warning) {
    if (!grid.findings) return;
    Findings& findings = *grid.findings;
    if (findings.warnings.size() >= most_warnings || !findings.seen.insert(place).second) return;
    warning.warning = true;
    findings.warnings.push_back(std::move(warning));
    findings.places.push_back(place);
}

std::shared_ptr<Findings> make_findings() {
    return std::make_shared<Findings>();
}

void move_findings(Grid& grid, Findings& from) {
    for (size_t k = 0; k < from.warnings.size(); ++k) add_warning(grid, from.places[k], std::move(from.warnings[k]));
    from.warnings.clear();
    from.places.clear();
    auto& holders = grid.findings->holders;
    for (const auto& [token, holder] : from.holders)
        if (holders.size() < most_holders || holders.contains(token)) holders[token] = holder;
    from.holders.clear();
}

std::vector<Fault> take_warnings(Grid& grid) {
    if (!grid.findings) return {};
    grid.findings->places.clear();
    return std::move(grid.findings->warnings);
}

bool has_warnings(const Grid& grid) {
    return grid.findings && !grid.findings->warnings.empty();
}

uint64_t token_of_word(const Block& block, ptx::Space space, uint64_t address) {
    return space == ptx::Space::shared ? token_of(block, address) : address;
}

void note_holder(const Warp& warp, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address) {
    const Block& block = *warp.block;
    auto& holders = block.grid->findings->holders;
    const uint64_t token = token_of_word(block, space, address);
    if (holders.size() >= most_holders && !holders.contains(token)) return;
    holders[token] = {block.linear, warp.index, lane, pc};
}

}  // namespace lockstep::simt
