// The memory operands of an instruction. Of asynchronous instructions they stand in the operand list, two entries each.
#include <cstring>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::ptx {
namespace {

struct Finder {
    const Program& program;
    const DecodedInstruction& i;
    std::vector<MemoryOperand> found{};

    // The address in the instruction itself.
    void own(uint32_t bytes, bool reads, bool writes) {
        found.push_back({i.space, i.address, i.address_bytes, i.variable, i.offset, bytes, reads, writes});
    }
    // The one that begins with entry `k` of the operand list.
    void listed(uint32_t k, uint32_t bytes, bool reads, bool writes) {
        const int32_t base = program.lists[i.list + k], rest = program.lists[i.list + k + 1];
        uint32_t lanes[5] = {};
        std::memcpy(lanes, program.constants.data() + ~rest, sizeof lanes);
        found.push_back({.space = static_cast<Space>(lanes[3]),
                         .base = is_register(base) ? base : no_operand,
                         .base_bytes = static_cast<uint8_t>(lanes[0]),
                         .variable = static_cast<int32_t>(lanes[4]) - 1,
                         .offset = static_cast<int64_t>(lanes[1] | uint64_t{lanes[2]} << 32),
                         .bytes = bytes,
                         .reads = reads,
                         .writes = writes});
    }
    void bulk();
    void find();
};

constexpr uint32_t map_bytes = 128, mbarrier_bytes = 8;

void Finder::bulk() {
    const bool signals = (i.offset & bulk_signals) != 0;
    const uint32_t rank = i.shape[0], value_bytes = static_cast<uint32_t>(size_of(i.type)) * i.vector;
    switch (static_cast<AsyncBulk>(i.mode)) {
        case AsyncBulk::copy:
        case AsyncBulk::reduce:
            listed(0, 0, static_cast<AsyncBulk>(i.mode) == AsyncBulk::reduce, true);
            listed(2, 0, true, false);
            if (signals) listed(5, mbarrier_bytes, true, true);
            return;
        case AsyncBulk::prefetch:
            return listed(0, 0, true, false);
        case AsyncBulk::tensor_load:
            listed(0, 0, false, true);
            listed(2, map_bytes, true, false);
            return listed(4 + rank, mbarrier_bytes, true, true);
        case AsyncBulk::tensor_store:
        case AsyncBulk::tensor_reduce:
            listed(0, 0, true, false);
            return listed(2, map_bytes, true, false);
        case AsyncBulk::tensor_prefetch:
            return listed(0, map_bytes, true, false);
        case AsyncBulk::store:
        case AsyncBulk::red:
            listed(0, value_bytes, static_cast<AsyncBulk>(i.mode) == AsyncBulk::red, true);
            return listed(2, mbarrier_bytes, true, true);
    }
}

void Finder::find() {
    const uint32_t bytes = static_cast<uint32_t>(size_of(i.type)) * i.vector;
    switch (i.kind) {
        case Kind::load:
            return own(bytes, true, false);
        case Kind::store:
            return own(bytes, false, true);
        case Kind::atomic:
            return own(bytes, true, true);
        case Kind::matrix_load:
            return own(0, true, false);
        case Kind::matrix_store:
            return own(0, false, true);
        case Kind::multimem: {
            const auto operation = static_cast<MultimemOperation>(i.mode);
            return own(bytes, operation != MultimemOperation::store, operation != MultimemOperation::load);
        }
        case Kind::async_copy:
            listed(0, bytes, false, true);
            return listed(2, bytes, true, false);
        case Kind::async_wait:
        case Kind::mbarrier:
            if (i.list_sources >= 2) listed(0, mbarrier_bytes, true, true);
            return;
        case Kind::bulk_copy:
            return bulk();
        case Kind::tensor_map: {
            const bool replaces = static_cast<TensorMapOperation>(i.mode) == TensorMapOperation::replace;
            listed(0, map_bytes, replaces, true);
            if (!replaces) listed(2, map_bytes, true, false);
            return;
        }
        default:
            return;
    }
}

}  // namespace

std::vector<MemoryOperand> memory_of(const Program& program, const DecodedInstruction& i) {
    Finder finder{program, i};
    finder.find();
    return std::move(finder.found);
}

}  // namespace lockstep::ptx
