// Programs for the timing tests: built by hand, with the rows and the register lists that the decoder would have given.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model/launch/launch.h"
#include "tests/simt/support.h"

namespace lockstep::model::test {

using simt::test::Builder;
using namespace ptx;

// A row of the table for arithmetic on a unit: fma of f32 and of f64, and, ex2.
inline const Opcode& opcode(Unit unit) {
    for (const Opcode& row : opcodes()) {
        const bool usual = row.name == "fma" || row.name == "ex2" || (row.name == "and" && unit == Unit::alu);
        if (usual && row.unit == unit && row.kind == Kind::lane_wise && row.group != "half") return row;
    }
    throw std::runtime_error("no arithmetic on this unit");
}
inline const Opcode& opcode(Kind kind) {  // the first of its kind
    for (const Opcode& row : opcodes())
        if (row.kind == kind) return row;
    throw std::runtime_error("no opcode of this kind");
}

// Gives every instruction its row, where it has none.
inline Program finished(Program program) {
    for (DecodedInstruction& i : program.instructions)
        if (i.opcode == nullptr)
            i.opcode = i.kind == Kind::lane_wise ? &opcode(i.type == Type::f32 ? Unit::fma : Unit::alu) : &opcode(i.kind);
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
