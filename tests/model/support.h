// Programs for the timing tests: built by hand, with the units and the register lists that the decoder would have given.
#pragma once
#include <string>
#include <vector>

#include "core/model/launch/launch.h"
#include "tests/simt/support.h"

namespace lockstep::model::test {

using simt::test::Builder;
using namespace ptx;

inline const Opcode& opcode(Unit unit) {
    static const Opcode rows[] = {
        {"fma", Kind::lane_wise, Unit::fma, 'F', "FP32", "", "", {}},
        {"and", Kind::lane_wise, Unit::alu, 'I', "integer", "", "", {}},
        {"fma", Kind::lane_wise, Unit::fp64, 'D', "FP64", "", "", {}},
        {"ex2", Kind::lane_wise, Unit::xu, 'X', "special function", "", "", {}},
        {"ld", Kind::load, Unit::lsu, 'L', "memory", "", "", {}},
        {"bra", Kind::branch, Unit::cbu, 'B', "control", "", "", {}},
    };
    for (const Opcode& row : rows)
        if (row.unit == unit) return row;
    return rows[1];
}

// Gives every instruction its unit (where it has none) and the registers that it reads and writes.
inline Program finished(Program program) {
    for (DecodedInstruction& i : program.instructions) {
        if (i.opcode == nullptr)
            i.opcode = &opcode(i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic     ? Unit::lsu
                               : i.kind == Kind::branch || i.kind == Kind::exit || i.kind == Kind::barrier ? Unit::cbu
                               : i.type == Type::f32                                                       ? Unit::fma
                                                                                                           : Unit::alu);
        i.registers_read = i.registers_written = 0;
        const auto reads = [&](int32_t operand) {
            if (operand >= 0 && operand != no_operand) i.reads[i.registers_read++] = operand;
        };
        for (const int32_t operand : i.source) reads(operand);
        reads(i.address);
        reads(i.guard);
        for (const int32_t operand : i.destination)
            if (operand >= 0 && operand != no_operand) i.writes[i.registers_written++] = operand;
    }
    return program;
}

inline GpuSpec gpu(std::string_view name) {
    return gpu_named(name).value();
}

inline TimedOptions tracing(uint32_t sm = 0) {
    TimedOptions options;
    options.traced_sm = sm;
    return options;
}

// The issues of instruction `pc` on the traced SM.
inline std::vector<IssueRecord> issues_of(const TimedResult& result, uint32_t pc) {
    std::vector<IssueRecord> found;
    for (const IssueRecord& issue : result.trace.issues)
        if (issue.pc == pc) found.push_back(issue);
    return found;
}

}  // namespace lockstep::model::test
