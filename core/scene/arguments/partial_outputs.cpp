#include "core/scene/arguments/partial_outputs.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::scene {

bool is_told_to_stop_at(const ptx::Program& program, const simt::LaunchConfig& config, uint64_t first) {
    std::vector<uint64_t> numbers;
    for (const ptx::Parameter& p : program.parameters) {
        if (p.offset + p.bytes > config.parameters.size()) continue;
        for (uint32_t at = 0; at + 4 <= p.bytes; at += 4) {  // of a struct, each word
            uint32_t word = 0;
            std::memcpy(&word, config.parameters.data() + p.offset + at, sizeof word);
            if (word > 0 && word <= INT32_MAX) numbers.push_back(word);
        }
    }
    for (const uint64_t a : numbers)
        if (a == first || std::any_of(numbers.begin(), numbers.end(), [&](uint64_t b) { return a * b == first; }))
            return true;
    return false;
}

namespace {

struct DataSlice {
    const ptx::Flow& flow;
    std::set<std::pair<uint32_t, int32_t>> seen{};

    bool comes_from_data(uint32_t pc, int32_t reg) {
        for (const uint32_t definition : ptx::definitions_of(flow, pc, reg).pcs) {
            if (!seen.insert({definition, reg}).second) continue;
            const ptx::DecodedInstruction& i = flow.program.instructions[definition];
            const bool data = (i.kind == ptx::Kind::load && i.space != ptx::Space::param) || i.kind == ptx::Kind::atomic ||
                              i.kind == ptx::Kind::shuffle || i.kind == ptx::Kind::vote;
            if (data) return true;
            if (i.kind != ptx::Kind::lane_wise && i.kind != ptx::Kind::lane_wise_many) continue;
            bool found = false;
            ptx::each_read(flow.program.lists, i,
                           [&](int32_t source) { found = found || comes_from_data(definition, source); });
            if (found) return true;
        }
        return false;
    }
};

}  // namespace

bool places_come_from_data(const ptx::Program& program, const simt::LaunchConfig& config, uint64_t buffer) {
    const ptx::Flow flow(program);
    const ptx::Origins origins(program);
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc)
        for (const ptx::MemoryOperand& access : ptx::memory_of(program, program.instructions[pc])) {
            if (!access.writes || !ptx::is_register(access.base)) continue;
            if (access.space != ptx::Space::global && access.space != ptx::Space::generic) continue;
            if (const auto pointer = origins.pointer_of(pc, access)) {
                if (pointer->from == ptx::Origin::From::variable) continue;
                uint64_t value = 0;
                const size_t at = program.parameters[static_cast<size_t>(pointer->index)].offset + size_t{pointer->at};
                if (at + sizeof value <= config.parameters.size())
                    std::memcpy(&value, config.parameters.data() + at, sizeof value);
                if (value != buffer) continue;
            }
            DataSlice slice{flow};
            if (slice.comes_from_data(pc, access.base)) return true;
        }
    return false;
}

}  // namespace lockstep::scene
