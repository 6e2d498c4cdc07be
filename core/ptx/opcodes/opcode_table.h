// Where the three copies of the table are: see simd.cmake. Plain data, so that nothing of a copy runs on a machine that
// lacks its instructions.
#pragma once
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx {

struct OpcodeTable {
    const Opcode* rows;
    size_t count;
};
namespace portable {
extern const OpcodeTable table;
}
namespace avx2 {
extern const OpcodeTable table;
}
namespace avx512 {
extern const OpcodeTable table;
}

}  // namespace lockstep::ptx
