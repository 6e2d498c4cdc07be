#include "core/model/metrics/operations.h"

#include <algorithm>

#include "core/ptx/decode/views.h"

namespace lockstep::model {
namespace {
using ptx::Kind;
using ptx::Type;

void add_matrix(Operations& sum, const ptx::DecodedInstruction& in, uint64_t issues) {
    const uint64_t done = issues * 2 * multiply_adds(in);
    switch (in.type) {
        case Type::f16:
        case Type::f16x2:
            (in.destination_type == Type::f32 ? sum.tensor_f16_f32 : sum.tensor_f16_f16) += done;
            break;
        case Type::bf16:
        case Type::bf16x2:
            sum.tensor_bf16 += done;
            break;
        case Type::tf32:
        case Type::f32:
            sum.tensor_tf32 += done;
            break;
        case Type::f64:
            sum.tensor_f64 += done;
            break;
        case Type::e4m3:
        case Type::e5m2:
            sum.tensor_f8 += done;
            break;
        case Type::u4:
        case Type::s4:
            sum.tensor_i4 += done;
            break;
        case Type::b1:
            sum.tensor_i1 += done;
            break;
        default:
            sum.tensor_i8 += done;
            break;
    }
}
}  // namespace

uint64_t multiply_adds(const ptx::DecodedInstruction& in) {
    if (in.kind == Kind::matrix_group) {
        const ptx::GroupView view = ptx::as_group(in);
        return uint64_t{view.m} * view.n * view.k / 4 / (view.sparse ? 2 : 1);
    }
    if (in.kind != Kind::matrix) return 0;  // what orders products makes none
    const ptx::MatrixView view = ptx::as_matrix(in);
    return uint64_t{view.m} * view.n * view.k * (view.quarters ? 4 : 1) / (view.sparse ? 2 : 1);
}

void add_to(Operations& sum, const ptx::DecodedInstruction& in, const InstructionCounters& counters) {
    if (in.kind == Kind::matrix || in.kind == Kind::matrix_group) return add_matrix(sum, in, counters.issues);
    if ((in.kind != Kind::lane_wise && in.kind != Kind::lane_wise_many) || in.opcode == nullptr) return;
    Operations::Scalar* scalar = nullptr;
    uint64_t elements = 1;
    switch (in.type) {
        case Type::f16x2:
        case Type::bf16x2:
            elements = 2;
            [[fallthrough]];
        case Type::f16:
        case Type::bf16:
            scalar = &sum.f16;
            break;
        case Type::f32:
            scalar = &sum.f32;
            break;
        case Type::f64:
            scalar = &sum.f64;
            break;
        default:
            return;
    }
    const uint64_t lanes = counters.executed;
    switch (in.opcode->facts.counts) {
        case ptx::Counts::nothing:
            return;
        case ptx::Counts::addition:
            scalar->add += lanes;
            break;
        case ptx::Counts::multiplication:
            scalar->mul += lanes;
            break;
        case ptx::Counts::multiply_add:
            scalar->fma += lanes;
            break;
        case ptx::Counts::special:
            scalar->special += lanes;
            break;
    }
    scalar->flop += elements * lanes * ptx::flops_of(in.opcode->facts.counts);
}

}  // namespace lockstep::model
