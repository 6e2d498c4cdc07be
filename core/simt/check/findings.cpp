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
}

std::vector<Fault> take_warnings(Grid& grid) {
    return grid.findings ? std::move(grid.findings->warnings) : std::vector<Fault>();
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
