// Which allocations a launch may write, from its program alone: a register's value comes from what was read to compute it,
// in any order of the instructions; pointers that were loaded from memory may come from anywhere.
#include <algorithm>
#include <cstring>

#include "core/simt/execute/ahead.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;
using ptx::Space;

constexpr uint64_t anywhere = uint64_t{1} << 63, variables = uint64_t{1} << 62;  // beside a bit for each parameter
constexpr uint64_t workspace = uint64_t{1} << 61;                                // of the grid
constexpr size_t most_parameters = 61;

class Origins {
  public:
    explicit Origins(const ptx::Program& program) : program_(program), of_(program.register_bytes / 4 + 1) {
        while (pass()) {
        }
    }
    uint64_t of_address(const ptx::DecodedInstruction& i) const {
        const uint64_t origins = of(i.address) | (i.variable >= 0 ? variables : 0);
        return origins != 0 ? origins : anywhere;
    }

  private:
    static bool is_register(int32_t operand) { return operand >= 0 && operand != ptx::no_operand; }
    uint64_t of(int32_t operand) const {
        if (!is_register(operand)) return 0;
        const size_t place = static_cast<size_t>(operand) / 4;
        return place < of_.size() ? of_[place] : 0;
    }

    uint64_t of_parameter(uint64_t offset) const {
        for (size_t k = 0; k < std::min(program_.parameters.size(), most_parameters); ++k)
            if (offset - program_.parameters[k].offset < program_.parameters[k].bytes) return uint64_t{1} << k;
        return anywhere;
    }

    uint64_t of_result(const ptx::DecodedInstruction& i) const {
        switch (i.kind) {
            case Kind::special_register:
                if (const auto which = static_cast<ptx::SpecialRegister>(i.mode);
                    which == ptx::SpecialRegister::envreg1 || which == ptx::SpecialRegister::envreg2)
                    return workspace;
                return i.variable >= 0 ? variables : 0;
            case Kind::load:
                if (i.space == Space::param)
                    return i.address == ptx::no_operand ? of_parameter(static_cast<uint64_t>(i.offset)) : anywhere;
                return ptx::size_of(i.destination_type) >= 8 ? anywhere : 0;
            case Kind::atomic:
                return ptx::size_of(i.destination_type) >= 8 ? anywhere : 0;
            case Kind::branch_table:
                return 0;
            default:
                break;
        }
        uint64_t origins = 0;
        for (const int32_t source : i.source) origins |= of(source);
        for (uint32_t k = 0; k < i.list_sources; ++k) origins |= of(program_.lists[i.list + i.list_destinations + k]);
        return origins;
    }

    bool pass() {
        bool changed = false;
        const auto add = [&](int32_t to, uint64_t origins) {
            if (!is_register(to)) return;
            const size_t place = static_cast<size_t>(to) / 4;
            if (place >= of_.size()) of_.resize(place + 1);
            uint64_t& known = of_[place];
            changed |= (origins & ~known) != 0;
            known |= origins;
        };
        for (const ptx::DecodedInstruction& i : program_.instructions) {
            const uint64_t origins = of_result(i);
            if (origins == 0) continue;
            for (const int32_t to : i.destination) add(to, origins);
            for (uint32_t k = 0; k < i.list_destinations; ++k) add(program_.lists[i.list + k], origins);
        }
        return changed;
    }

    const ptx::Program& program_;
    std::vector<uint64_t> of_;  // by the register's place; functions that are called have more of them than the kernel
};

uint64_t origins_of_writes(const ptx::Program& program) {
    const Origins origins(program);
    uint64_t all = 0;
    for (const ptx::DecodedInstruction& i : program.instructions) {
        switch (i.kind) {
            case Kind::store:
            case Kind::atomic:
            case Kind::matrix_store:
                if (i.space != Space::shared && i.space != Space::local) all |= origins.of_address(i);
                break;
            case Kind::call:
            case Kind::return_:
            case Kind::bulk_copy:
            case Kind::surface:
            case Kind::system:
            case Kind::tensor_map:
            case Kind::multimem:
                return anywhere;
            default:
                break;
        }
    }
    return all;
}

}  // namespace

void find_written(Grid& grid) {
    grid.written.clear();
    grid.writes_anywhere = true;
    const uint64_t origins = origins_of_writes(*grid.program);
    if ((origins & anywhere) != 0) return;
    const auto add = [&](uint64_t address) {
        const Allocation* const allocation = grid.memory->find(address);
        if (allocation != nullptr) grid.written.push_back(allocation->address);
        return allocation != nullptr;
    };
    if ((origins & variables) != 0)
        for (const uint64_t variable : grid.variables) add(variable);
    if ((origins & workspace) != 0 && !add(grid.workspace)) return;
    const auto& bytes = grid.config->parameters;
    for (size_t k = 0; k < std::min(grid.program->parameters.size(), most_parameters); ++k) {
        if ((origins >> k & 1) == 0) continue;
        const ptx::Parameter& parameter = grid.program->parameters[k];
        for (size_t at = parameter.offset; at + 8 <= std::min<size_t>(parameter.offset + parameter.bytes, bytes.size());
             at += 8) {
            uint64_t value = 0;
            std::memcpy(&value, bytes.data() + at, 8);
            if (!add(value) && parameter.bytes == 8 && value != 0) return;
        }
    }
    grid.writes_anywhere = false;
}

}  // namespace lockstep::simt
