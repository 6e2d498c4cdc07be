// Every operation of the opcode table as small kernels: a thread reads its operands, runs each spelling of the operation and
// writes what it gave. The same kernels run on a GPU and on our machine (opcodes.cpp). Lane-wise rows are written
// down by their shape in the table; warp-wide ones, memory and matrices by opcode_cases_warp.cpp.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/ptx/opcodes/opcode.h"
#include "core/simt/memory/texture.h"

namespace lockstep::device {

enum class OpcodeDraw : uint8_t {
    edges,     // edge values of the type, each against each, then random ones
    moderate,  // numbers whose products and sums stay in range: of matrices
    few,       // 0 to 3
    bit,       // 0 or 1
    metadata   // of a sparse matrix: which elements of each group there are
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
    std::string target = {};  // "sm_90a": for no other; "": for any
    uint32_t cluster = 0;     // blocks
};

// All of them, by name in the table's order. quick: one spelling of each.
std::vector<OpcodeCase> opcode_cases(bool quick = false);
std::vector<OpcodeCase> lane_cases(bool quick);
std::vector<OpcodeCase> warp_cases();     // opcode_cases_warp.cpp
std::vector<OpcodeCase> hopper_cases();   // opcode_cases_hopper.cpp
std::vector<OpcodeCase> texture_cases();  // opcode_cases_texture.cpp

// What the cases of textures and surfaces read and write: objects, whose `address` counts from the first byte of `texels`.
struct OpcodeTextures {
    std::vector<simt::Texture> textures;
    std::vector<std::byte> texels;
};
OpcodeTextures opcode_textures(uint32_t threads);

// A kernel of `threads` threads (whole warps) in blocks of 128: inputs[slot][thread] and outputs[output][thread], 64 bits
// each, behind its two pointers, and 32 bytes a thread behind the outputs. The shared variable `scratch` has 32 bytes a
// thread. Where a step names %map0 to %map3 the kernel takes opcode_tiles() as four more arguments, where one names %tex0,
// ... the objects of opcode_textures().
struct OpcodeKernel {
    std::string ptx;
    std::vector<std::vector<uint64_t>> inputs;
    std::vector<std::pair<size_t, ptx::Type>> outputs;  // of each: which step, and its type
    std::vector<size_t> lines;                          // the first line of each step, from 1
    bool has_textures = false;
};
OpcodeKernel opcode_kernel(const std::string& name, const std::vector<OpcodeStep>& steps, uint32_t threads,
                           const std::string& target, uint32_t cluster = 0);
// The 32 bytes a thread at `address` as rows of 64 words.
std::array<TensorTile, 4> opcode_tiles(uint64_t address, uint32_t threads);

}  // namespace lockstep::device
