// Every operation of the opcode table as small kernels: a thread reads its operands, runs each spelling of the operation and
// writes what it gave. The same kernels run on a GPU and on our machine (silicon_opcodes.cpp). Lane-wise rows are written
// down by their shape in the table; warp-wide ones, memory and matrices by opcode_cases_warp.cpp.
#pragma once
#include <string>
#include <vector>

#include "core/ptx/opcode.h"

namespace lockstep::device {

enum class OpcodeDraw : uint8_t {
    edges,     // edge values of the type, each against each, then random ones
    moderate,  // numbers whose products and sums stay in range: of matrices
    few,       // 0 to 3
    bit        // 0 or 1
};
struct OpcodeOperand {
    std::string reg;  // "%r1": its letter says how wide it is
    ptx::Type type = ptx::Type::none;
    OpcodeDraw draw = OpcodeDraw::edges;
};
struct OpcodeStep {
    std::string text;  // the instruction
    std::vector<OpcodeOperand> inputs, outputs;
    std::vector<std::string> before, behind;  // statements around it
};
struct OpcodeCase {
    std::string name;  // "add.f32": the operation and its types
    std::vector<OpcodeStep> steps;
};

// All of them, by name in the table's order. quick: one spelling of each.
std::vector<OpcodeCase> opcode_cases(bool quick = false);
std::vector<OpcodeCase> lane_cases(bool quick);
std::vector<OpcodeCase> warp_cases();  // opcode_cases_warp.cpp

// A kernel of `threads` threads (whole warps) in blocks of 128: inputs[slot][thread] and outputs[output][thread], 64 bits
// each, behind its two pointers. The shared variable `scratch` has 32 bytes a thread.
struct OpcodeKernel {
    std::string ptx;
    std::vector<std::vector<uint64_t>> inputs;
    std::vector<std::pair<size_t, ptx::Type>> outputs;  // of each: which step, and its type
    std::vector<size_t> lines;                          // the first line of each step, from 1
};
OpcodeKernel opcode_kernel(const std::string& name, const std::vector<OpcodeStep>& steps, uint32_t threads,
                           const std::string& target);

}  // namespace lockstep::device
