// Which pointers a kernel reads and writes through, from its PTX: a pointer parameter's value is followed through the
// registers that arithmetic makes of it, without regard to the order of instructions, to the loads, stores and atomics it
// addresses.
#include <map>
#include <mutex>

#include "core/device/kernels/kernel_library.h"
#include "core/graph/graph.h"
#include "core/ptx/decode/program.h"

namespace lockstep::graph {

namespace {
using Mask = uint64_t;  // bit i: made of parameter i

struct Follow {
    const ptx::Program& program;
    std::map<int32_t, Mask> made_of;  // by register
    Mask read = 0, written = 0;
    bool grew = true;

    Mask of(int32_t operand) const {
        const auto found = operand >= 0 ? made_of.find(operand) : made_of.end();
        return found == made_of.end() ? 0 : found->second;
    }
    void join(int32_t destination, Mask mask) {
        if (destination < 0 || destination == ptx::no_operand || mask == 0) return;
        Mask& now = made_of[destination];
        grew = grew || (now | mask) != now;
        now |= mask;
    }
    Mask all_sources(const ptx::DecodedInstruction& one) const {
        Mask mask = 0;
        for (int i = 0; i < one.registers_read; ++i) mask |= of(one.reads[i]);
        for (int i = 0; i < one.list_destinations + one.list_sources; ++i)
            mask |= of(program.lists[one.list + static_cast<uint32_t>(i)]);
        return mask;
    }
    void look_at(const ptx::DecodedInstruction& one) {
        switch (one.kind) {
            case ptx::Kind::load:
                if (one.space == ptx::Space::param) {
                    for (size_t p = 0; p < program.parameters.size() && p < 64; ++p)
                        if (program.parameters[p].pointer &&
                            program.parameters[p].offset == static_cast<uint64_t>(one.offset))
                            join(one.destination[0], Mask{1} << p);
                } else {
                    read |= of(one.address);
                }
                return;
            case ptx::Kind::store:
                written |= of(one.address);
                return;
            case ptx::Kind::atomic:
                read |= of(one.address);
                written |= of(one.address);
                return;
            case ptx::Kind::lane_wise:
            case ptx::Kind::lane_wise_many:
            case ptx::Kind::special_register:
            case ptx::Kind::shuffle:
            case ptx::Kind::vote: {
                Mask mask = 0;
                for (int i = 0; i < one.registers_read; ++i) mask |= of(one.reads[i]);
                for (int i = 0; i < one.registers_written; ++i) join(one.writes[i], mask);
                return;
            }
            case ptx::Kind::branch:
            case ptx::Kind::branch_table:
            case ptx::Kind::barrier:
            case ptx::Kind::warp_barrier:
            case ptx::Kind::exit:
            case ptx::Kind::return_:
            case ptx::Kind::fence:
            case ptx::Kind::trap:
            case ptx::Kind::nop:
                return;
            default:  // calls, asynchronous copies, matrices: whatever they are given
                read |= all_sources(one);
                written |= all_sources(one);
        }
    }
};
}  // namespace

std::vector<Access> accesses_of(const ptx::Program& program) {
    Follow follow{program, {}};
    while (std::exchange(follow.grew, false))
        for (const ptx::DecodedInstruction& one : program.instructions) follow.look_at(one);
    std::vector<Access> accesses(program.parameters.size());
    for (size_t i = 0; i < accesses.size(); ++i) {
        const bool beyond = i >= 64 && program.parameters[i].pointer;
        accesses[i] = {beyond || (follow.read >> (i & 63) & 1) != 0, beyond || (follow.written >> (i & 63) & 1) != 0};
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
