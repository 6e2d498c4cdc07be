// Rows of the opcode table to cases, a case an operation and its types; steps to PTX.
#include "app/silicon/opcodes/opcode_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/dtype.h"
#include "core/base/hash.h"
#include "core/ptx/opcodes/opcode_text.h"
#include "core/ptx/parse/spelling.h"

namespace lockstep::device {
namespace {

using ptx::Type;
namespace opcode_text = ptx::opcode_text;
using opcode_text::Instruction;

constexpr std::string_view carried_in = "%r40";

// The lane-wise instruction `i` of a row, with the carry flag set before and read behind where the row has one.
OpcodeStep lane_step_of(const ptx::Opcode& row, const Instruction& i) {
    OpcodeStep step{.text = i.text};
    const bool subtracts = row.name == "sub" || row.name == "subc";
    step.outputs.push_back({i.operands[0].reg, i.operands[0].type});
    if (!i.second.reg.empty()) step.outputs.push_back({i.second.reg, Type::pred});
    for (size_t k = 1; k < i.operands.size(); ++k)
        if (!i.operands[k].reg.empty()) step.inputs.push_back({i.operands[k].reg, i.operands[k].type});
    const size_t equals = row.operands.find('=');
    if (row.operands.find('C', equals) != std::string_view::npos) {
        step.inputs.push_back({std::string(carried_in), Type::u32, OpcodeDraw::bit});
        step.before.push_back(subtracts ? fmt::format("sub.cc.u32 %r41, 0, {}", carried_in)
                                        : fmt::format("add.cc.u32 %r41, {}, 0xffffffff", carried_in));
    }
    const size_t carry = row.operands.find_first_of("Cc");
    if (carry < equals && i.has(".cc")) {
        step.behind.emplace_back(subtracts ? "subc.u32 %r42, 0, 0" : "addc.u32 %r42, 0, 0");
        step.outputs.push_back({"%r42", Type::u32});
    }
    return step;
}

// Spellings that our machine takes and NVIDIA's assembler does not: a second predicate of a comparison of halves that are
// no pair, and lop3's table in a register.
bool assemblers_refuse(const ptx::Opcode& row, const Instruction& i) {
    return (row.name == "setp" && !i.second.reg.empty() && (i.last == Type::f16 || i.last == Type::bf16)) ||
           (row.name == "lop3" && row.operands.find('U') != std::string_view::npos);
}
bool has_wide_operands(const Instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(),
                       [](const opcode_text::Operand& o) { return o.reg.starts_with("%rq"); });
}

// Of one thread; `edge`: it is one of those that take the edges of the first operand each against those of the second.
uint64_t drawn_value(const OpcodeOperand& operand, size_t slot, size_t thread, bool edge, size_t firsts,
                     const std::vector<uint64_t>& own, Rng& rng) {
    switch (operand.draw) {
        case OpcodeDraw::bit:
            return rng.below(2);
        case OpcodeDraw::few:
            return rng.below(4);
        case OpcodeDraw::metadata: {
            static constexpr uint64_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};  // two of four; of tf32 one of two
            uint64_t word = 0;
            for (int i = 0; i < 8; ++i)
                word = word << 4 | (operand.type == Type::tf32 ? pairs[5 * rng.below(2)] : pairs[rng.below(6)]);
            return word;
        }
        case OpcodeDraw::moderate: {
            const auto real = [&] { return rng.uniform(-2, 2); };
            const auto half = [&] {
                return uint64_t{operand.type == Type::bf16x2 ? f32_to_bf16(static_cast<float>(real()))
                                                             : f32_to_f16(static_cast<float>(real()))};
            };
            const auto eighth = [&](int fraction) {  // e4m3, e5m2: 0.25 to 3.5 with either sign
                const int bias = fraction == 3 ? 7 : 15;
                return rng.below(2) << 7 | static_cast<uint64_t>(bias - 2 + static_cast<int>(rng.below(4))) << fraction |
                       rng.below(uint64_t{1} << fraction);
            };
            switch (operand.type) {
                case Type::f16x2:
                case Type::bf16x2: {
                    const uint64_t low_half = half();
                    return low_half | half() << 16;
                }
                case Type::f32:
                case Type::tf32:
                    return __builtin_bit_cast(uint32_t, static_cast<float>(real()));
                case Type::f64:
                    return __builtin_bit_cast(uint64_t, real());
                case Type::e4m3x2:
                case Type::e5m2x2: {
                    uint64_t bytes = 0;
                    for (int i = 0; i < 4; ++i) bytes = bytes << 8 | eighth(operand.type == Type::e4m3x2 ? 3 : 2);
                    return bytes;
                }
                default:
                    return rng.next() & 0xffffffffu;
            }
        }
        default:
            break;
    }
    if (!edge && rng.below(4)) return opcode_text::random_value(rng, operand.type);
    if (!edge || slot > 1) return own[rng.below(own.size())];
    return own[slot == 0 ? thread % own.size() : thread / firsts % own.size()];
}

std::string_view register_letter_of(const std::string& reg) {
    return reg.starts_with("%p") ? "p" : reg.starts_with("%h") ? "h" : reg.starts_with("%rd") ? "rd" : "r";
}

}  // namespace

std::vector<OpcodeCase> lane_cases(bool quick) {
    std::vector<OpcodeCase> cases;
    std::map<std::string, size_t> places;
    Rng rng(7);
    for (const ptx::Opcode& row : ptx::opcodes()) {
        if (row.kind != ptx::Kind::lane_wise && row.kind != ptx::Kind::lane_wise_many) continue;
        if (row.operands.find('=') == std::string_view::npos) continue;  // pack and unpack: warp_cases
        if (row.name == "cvta" || row.name == "isspacep") continue;      // of addresses, which are the machine's own
        const bool many_variants = row.operands.find_first_of("XI") != std::string_view::npos || row.operands == "T=TTP";
        const size_t variants = quick || !many_variants ? 1 : row.operands[0] == 'S' ? 8 : 4;
        for (const ptx::Form& form : row.forms) {
            const auto all = opcode_text::spellings(form.pattern);
            const size_t step = quick ? all.size() : 1 + all.size() / 300;
            for (size_t n = 0; n < all.size(); n += step)
                for (size_t v = 0; v < variants; ++v) {
                    const Instruction i = opcode_text::write_down(row, all[n], v + (n % 5) * (variants == 4 ? 1 : 0), rng);
                    if (has_wide_operands(i) || assemblers_refuse(row, i)) continue;
                    std::string name(row.name);
                    for (const Type type : i.types) name += fmt::format(".{}", ptx::name_of(type));
                    const auto [place, added] = places.try_emplace(name, cases.size());
                    if (added) cases.push_back({name, {}});
                    auto& steps = cases[place->second].steps;
                    const auto same = [&](const OpcodeStep& it) { return it.text == i.text; };
                    if (std::none_of(steps.begin(), steps.end(), same)) steps.push_back(lane_step_of(row, i));
                }
        }
    }
    return cases;
}

std::vector<OpcodeCase> opcode_cases(bool quick) {
    std::vector<OpcodeCase> cases = lane_cases(quick);
    for (std::vector<OpcodeCase> more : {warp_cases(), hopper_cases(), texture_cases()})
        std::move(more.begin(), more.end(), std::back_inserter(cases));
    return cases;
}

OpcodeKernel opcode_kernel(const std::string& name, const std::vector<OpcodeStep>& steps, uint32_t threads,
                           const std::string& target, uint32_t cluster) {
    OpcodeKernel kernel;
    std::string body;
    std::map<std::tuple<size_t, Type, OpcodeDraw>, size_t> slots;
    Rng rng(fnv1a64(name));
    const size_t edge = std::min(2048u, threads / 4 * 3);
    size_t body_lines = 0;
    const auto line = [&](std::string_view text) { body += fmt::format("    {};\n", text), ++body_lines; };
    for (size_t s = 0; s < steps.size(); ++s) {
        const OpcodeStep& step = steps[s];
        kernel.lines.push_back(body_lines);
        const size_t firsts = step.inputs.empty() ? 1 : opcode_text::edges(step.inputs[0].type).size();
        for (size_t k = 0; k < step.inputs.size(); ++k) {
            const OpcodeOperand& operand = step.inputs[k];
            const auto [place, added] = slots.try_emplace({k, operand.type, operand.draw}, kernel.inputs.size());
            if (added) {
                const std::vector<uint64_t> own = opcode_text::edges(operand.type);
                auto& values = kernel.inputs.emplace_back(threads);
                for (size_t t = 0; t < threads; ++t) values[t] = drawn_value(operand, k, t, t < edge, firsts, own, rng);
            }
            line(fmt::format("ld.global.b64 %w0, [%in+{}]", place->second * threads * 8));
            const std::string_view width = register_letter_of(operand.reg);
            if (width == "p") {
                line("and.b64 %w0, %w0, 1");
                line(fmt::format("setp.ne.u64 {}, %w0, 0", operand.reg));
            } else if (width == "rd") {
                line(fmt::format("mov.b64 {}, %w0", operand.reg));
            } else {
                line(fmt::format("cvt.u{}.u64 {}, %w0", width == "h" ? 16 : 32, operand.reg));
            }
        }
        for (const std::string& text : step.before) line(text);
        line(step.text);
        for (const std::string& text : step.behind) line(text);
        for (const OpcodeOperand& output : step.outputs) {
            const std::string_view width = register_letter_of(output.reg);
            if (width == "p")
                line(fmt::format("selp.u64 %w0, 1, 0, {}", output.reg));
            else if (width == "rd")
                line(fmt::format("mov.b64 %w0, {}", output.reg));
            else
                line(fmt::format("cvt.u64.u{} %w0, {}", width == "h" ? 16 : 32, output.reg));
            line(fmt::format("st.global.b64 [%out+{}], %w0", kernel.outputs.size() * threads * 8));
            kernel.outputs.emplace_back(s, output.type);
        }
    }
    const bool maps = body.find("%map") != std::string::npos, tiles = body.find("%tile") != std::string::npos;
    kernel.ptx = fmt::format(
        ".version 9.0\n.target {}\n.address_size 64\n.visible .entry {}(.param .u64 in, .param .u64 out", target, name);
    for (int i = 0; i < 4 && maps; ++i) kernel.ptx += fmt::format(", .param .align 64 .b8 map{}[128]", i);
    kernel.has_textures = body.find("%tex") != std::string::npos;
    const size_t textures = kernel.has_textures ? opcode_textures(threads).textures.size() : 0;
    for (size_t i = 0; i < textures; ++i) kernel.ptx += fmt::format(", .param .u64 tex{}", i);
    kernel.ptx += ")\n";
    if (cluster) kernel.ptx += fmt::format(".explicitcluster\n.reqnctapercluster {}, 1, 1\n", cluster);
    kernel.ptx += R"({
    .reg .pred %p<20>;
    .reg .b16 %h<64>;
    .reg .b32 %r<160>;
    .reg .b64 %rd<160>;
    .reg .b64 %in, %out, %w0, %thread, %global, %map0, %map1, %map2, %map3;
    .reg .b32 %x, %y, %z, %shared, %tile, %tiles;
    .shared .align 16 .b8 scratch[4096];
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %ctaid.x;
    mad.lo.u32 %y, %y, 128, %x;
    mul.wide.u32 %thread, %y, 8;
    add.u64 %in, %in, %thread;
    add.u64 %out, %out, %thread;
    mov.u32 %shared, scratch;
    mad.lo.u32 %shared, %x, 32, %shared;
)";
    if (tiles)
        kernel.ptx += R"(    .shared .align 1024 .b8 tiles[32768];
    mov.u32 %tiles, tiles;
    shr.u32 %tile, %x, 5;
    mad.lo.u32 %tile, %tile, 8192, %tiles;
)";
    for (int i = 0; i < 4 && maps; ++i)
        kernel.ptx += fmt::format("    mov.b64 %map{}, map{};\n    cvta.param.u64 %map{}, %map{};\n", i, i, i, i);
    for (size_t i = 0; i < textures; ++i)
        kernel.ptx += fmt::format("    .reg .b64 %tex{};\n    ld.param.u64 %tex{}, [tex{}];\n", i, i, i);
    // %global: 32 bytes a thread behind the outputs.
    kernel.ptx += fmt::format("    mul.wide.u32 %global, %y, 24;\n    add.u64 %global, %global, %out;\n");
    kernel.ptx += fmt::format("    add.u64 %global, %global, {};\n", kernel.outputs.size() * threads * 8);
    const auto before = static_cast<size_t>(std::count(kernel.ptx.begin(), kernel.ptx.end(), '\n'));
    for (size_t& first : kernel.lines) first += before + 1;
    kernel.ptx += body + "    ret;\n}\n";
    return kernel;
}

std::array<TensorTile, 4> opcode_tiles(uint64_t address, uint32_t threads) {
    const auto tile = [&](uint32_t words, uint32_t swizzle) {
        return TensorTile{{address}, DType::u32, {64, threads / 8}, {words, 8}, swizzle};
    };
    return {tile(32, 0), tile(8, 32), tile(16, 64), tile(32, 128)};
}

}  // namespace lockstep::device
