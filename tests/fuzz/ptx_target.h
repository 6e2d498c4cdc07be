// What the fuzzer does with PTX: parse, print and parse again, decode every entry, and launch what decodes on a few buffers,
// all checkers on.
//
//   input = order independent threads blocks "\n" text
//
// The first four bytes are letters that choose a launch: the warp order (by 4: '0' round robin, '1' greedy, '2' reverse,
// '3' random), whether threads of a warp are independent (odd) or on a stack, the threads of the block (byte modulo 128, and
// one more: ' ' 33, '?' 64, DEL 128), the blocks (odd: two) and whether these are a cluster (by 4: '3' is). Each parameter
// of eight bytes is a buffer's address or a handle, in turn; one of 128 bytes is a tensor map.
#pragma once
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/ptx/ptx.h"
#include "core/simt/async/tensor_map.h"
#include "core/simt/launch.h"
#include "tests/ptx/print_again.h"

namespace lockstep::fuzz {

struct PtxCounts {  // of one input: tests see from it that inputs get as far as they should
    size_t modules = 0, programs = 0, launches = 0, faults = 0;
    uint64_t warp_instructions = 0;
    std::string complaint;  // the last one
};

// What no input may bring about; both a fuzzer and a test end by it.
inline void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

inline void must_be_sound(const ptx::Program& program) {
    for (const ptx::DecodedInstruction& i : program.instructions) {
        must(i.opcode != nullptr, "an instruction without a row");
        if (i.kind == ptx::Kind::branch) must(i.target < program.instructions.size(), "a branch out of the program");
        if (i.kind == ptx::Kind::call) must(static_cast<uint64_t>(i.offset) < program.calls.size(), "a call without a site");
        if (i.kind == ptx::Kind::lane_wise) must(i.lanes != nullptr, "a lane-wise instruction without a function");
        if (i.kind == ptx::Kind::lane_wise_many) must(i.many != nullptr, "a lane-wise instruction without a function");
        must(size_t{i.list} + i.list_destinations + i.list_sources <= program.lists.size(), "operands outside the lists");
    }
}

inline std::vector<std::byte> parameters_of(const ptx::Program& program, simt::Memory& memory) {
    const uint64_t words = memory.allocate(4096, "words"), few = memory.allocate(100, "few bytes"),
                   texels = memory.allocate(1024, "texels");
    std::byte* const contents = memory.write(words, 4096);
    for (uint32_t i = 0; i < 1024; ++i) std::memcpy(contents + i * 4, &i, 4);
    memory.mark_unwritten(few);
    simt::Texture texture;
    texture.name = "picture";
    texture.address = texels;
    texture.width = texture.height = 16;
    texture.linear = true;
    const uint64_t given[] = {words, few, memory.texture(texture), words + 2048};
    const uint64_t dims[] = {16, 16}, strides[] = {64};
    const uint32_t box[] = {8, 8}, steps[] = {1, 1};
    const auto map = simt::make_tensor_map(words, simt::TensorType::f32, dims, strides, box, steps);
    must(map.ok(), "the tensor map is not one");

    std::vector<std::byte> block(program.parameter_bytes);
    size_t next = 0;
    for (const ptx::Parameter& p : program.parameters) {
        must(uint64_t{p.offset} + p.bytes <= block.size(), "a parameter outside the block");
        const uint64_t value = p.bytes == 8 ? given[next++ % std::size(given)] : 64;
        if (p.bytes == 128)
            std::memcpy(block.data() + p.offset, map.value().bytes.data(), 128);
        else
            std::memcpy(block.data() + p.offset, &value, std::min<size_t>(p.bytes, 8));
    }
    return block;
}

inline void launch_one(const ptx::Program& program, std::string_view letters, PtxCounts& counts) {
    simt::Memory memory(uint64_t{256} << 20);
    memory.set_heap_limit(64 << 10);
    simt::LaunchConfig config;
    config.block.x = 1 + static_cast<uint8_t>(letters[2]) % 128;
    config.grid.x = 1 + (letters[3] & 1);
    if ((letters[3] & 3) == 3) config.cluster.x = config.grid.x;
    if (program.required_threads[0])
        config.block = {program.required_threads[0], std::max(program.required_threads[1], 1u),
                        std::max(program.required_threads[2], 1u)};
    config.dynamic_shared = 1024;
    config.parameters = parameters_of(program, memory);
    if (config.block.count() > 128 || simt::check_launch(program, config, {})) return;
    simt::LaunchOptions options;
    options.max_instructions = 4'000;
    options.racecheck = options.initcheck = true;
    options.order = static_cast<simt::WarpOrder>(letters[0] & 3);
    options.independent = letters[1] & 1;
    size_t printed = 0;
    options.print = [&](std::string_view text) { printed += text.size(); };
    const simt::LaunchResult result = simt::launch(program, config, memory, options);
    ++counts.launches;
    counts.warp_instructions += result.warp_instructions;
    if (result.fault) {
        ++counts.faults;
        counts.complaint = simt::render(*result.fault);
        must(!result.fault->kind.empty() && !result.fault->message.empty(), "a fault without words");
    }
    for (const simt::Fault& report : result.reports) must(!simt::render(report).empty(), "a report without words");
    must(printed < size_t{8} << 20, "more was printed than may be");
}

inline PtxCounts try_ptx(std::string_view input) {
    PtxCounts counts;
    if (input.size() < 5) return counts;
    const std::string_view letters = input.substr(0, 4);
    const auto module = ptx::parse(input.substr(5), "fuzz.ptx");
    if (!module) {
        must(!module.error().message.empty(), "a complaint without words");
        counts.complaint = render(module.error());
        return counts;
    }
    ++counts.modules;
    must(ptx::lost_in_print(module.value()).empty(), "a module that says something else once it is printed");
    const std::vector<std::string> names = ptx::entries(module.value());
    for (size_t i = 0; i < std::min<size_t>(names.size(), 4); ++i) {
        const auto program = ptx::decode(module.value(), names[i]);
        if (!program) {
            must(!program.error().message.empty(), "a complaint without words");
            counts.complaint = render(program.error());
            continue;
        }
        ++counts.programs;
        must_be_sound(*program.value());
        try {
            launch_one(*program.value(), letters, counts);
        } catch (const Failure& failure) {  // variables that do not fit into the device's memory
            must(*failure.what() != 0, "a failure without words");
            counts.complaint = failure.what();
        }
    }
    return counts;
}

}  // namespace lockstep::fuzz
