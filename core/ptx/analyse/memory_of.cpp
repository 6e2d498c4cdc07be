// The memory operands of an instruction. Of asynchronous instructions they stand in the operand list, two entries each.
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views_async.h"

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
        const ListedAddress address = listed_address(program, i, k);
        found.push_back({.space = address.space,
                         .base = is_register(address.base) ? address.base : no_operand,
                         .base_bytes = static_cast<uint8_t>(address.base_bytes),
                         .variable = address.variable,
                         .offset = static_cast<int64_t>(address.offset),
                         .bytes = bytes,
                         .reads = reads,
                         .writes = writes});
    }
    void bulk();
    void find();
};

constexpr uint32_t map_bytes = 128, mbarrier_bytes = 8;

void Finder::bulk() {
    const BulkView view = as_bulk(i);
    switch (view.operation) {
        case AsyncBulk::copy:
        case AsyncBulk::reduce:
            listed(0, 0, view.operation == AsyncBulk::reduce, true);
            listed(2, 0, true, false);
            if (view.signals) listed(5, mbarrier_bytes, true, true);
            return;
        case AsyncBulk::prefetch:
            return listed(0, 0, true, false);
        case AsyncBulk::tensor_load:
            listed(0, 0, false, true);
            listed(view.map_at(), map_bytes, true, false);
            return listed(view.behind_coordinates(), mbarrier_bytes, true, true);
        case AsyncBulk::tensor_store:
        case AsyncBulk::tensor_reduce:
            listed(0, 0, true, false);
            return listed(2, map_bytes, true, false);
        case AsyncBulk::tensor_prefetch:
            return listed(0, map_bytes, true, false);
        case AsyncBulk::store:
        case AsyncBulk::red:
            listed(0, static_cast<uint32_t>(size_of(i.type)) * i.vector, view.operation == AsyncBulk::red, true);
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
            const MultimemOperation operation = as_multimem(i).operation;
            return own(bytes, operation != MultimemOperation::store, operation != MultimemOperation::load);
        }
        case Kind::async_copy:
            listed(AsyncCopyView::to, bytes, false, true);
            return listed(AsyncCopyView::from, bytes, true, false);
        case Kind::async_wait:
            if (i.list_sources != 0) listed(0, mbarrier_bytes, true, true);
            return;
        case Kind::mbarrier:
            if (as_mbarrier(i).has_address()) listed(0, mbarrier_bytes, true, true);
            return;
        case Kind::bulk_copy:
            return bulk();
        case Kind::tensor_map: {
            const bool replaces = as_tensor_map(i).operation == TensorMapOperation::replace;
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
