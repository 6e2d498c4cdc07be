// Which pointers a kernel reads and writes through, from its PTX: the pointer parameters that the addresses of its loads,
// stores and atomics come from.
#include <algorithm>
#include <map>
#include <mutex>
#include <span>

#include "core/device/kernels/kernel_library.h"
#include "core/graph/graph.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::graph {

std::vector<Access> accesses_of(const ptx::Program& program) {
    const ptx::Origins origins(program);
    std::vector<Access> accesses(program.parameters.size());
    const auto mark = [&](std::span<const ptx::Origin> pointer, Access access) {
        for (size_t k = 0; k < accesses.size(); ++k) {
            if (!program.parameters[k].pointer) continue;
            const bool is_it = std::any_of(pointer.begin(), pointer.end(), [&](const ptx::Origin& origin) {
                return origin.from == ptx::Origin::From::unknown ||
                       (origin.from == ptx::Origin::From::parameter && origin.index == static_cast<int32_t>(k));
            });
            accesses[k].reads |= is_it && access.reads;
            accesses[k].writes |= is_it && access.writes;
        }
    };
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& i = program.instructions[pc];
        switch (i.kind) {
            case ptx::Kind::load:
            case ptx::Kind::store:
            case ptx::Kind::atomic:
                for (const ptx::MemoryOperand& access : ptx::memory_of(program, i))
                    mark(origins.of_access(pc, access), {access.reads, access.writes});
                break;
            case ptx::Kind::lane_wise:
            case ptx::Kind::lane_wise_many:
            case ptx::Kind::special_register:
            case ptx::Kind::shuffle:
            case ptx::Kind::vote:
            case ptx::Kind::branch:
            case ptx::Kind::branch_table:
            case ptx::Kind::barrier:
            case ptx::Kind::warp_barrier:
            case ptx::Kind::exit:
            case ptx::Kind::return_:
            case ptx::Kind::fence:
            case ptx::Kind::trap:
            case ptx::Kind::nop:
                break;
            default:  // calls, asynchronous copies, matrices: whatever they are given
                ptx::each_read(program.lists, i, [&](int32_t reg) { mark(origins.of(pc, reg), {true, true}); });
        }
    }
    return accesses;
}

const std::vector<Access>& accesses_of(std::string_view kernel) {
    static std::mutex mutex;
    static std::map<std::string, std::vector<Access>, std::less<>> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find(kernel);
    if (found != known.end()) return found->second;
    return known.emplace(kernel, accesses_of(*device::program_of(kernel))).first->second;
}

}  // namespace lockstep::graph
