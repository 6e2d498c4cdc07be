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

// Gives every instruction its unit, where it has none.
inline Program finished(Program program) {
    for (DecodedInstruction& i : program.instructions) {
        if (i.opcode == nullptr)
            i.opcode = &opcode(i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic     ? Unit::lsu
                               : i.kind == Kind::branch || i.kind == Kind::exit || i.kind == Kind::barrier ? Unit::cbu
                               : i.type == Type::f32                                                       ? Unit::fma
                                                                                                           : Unit::alu);
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
