// Matrix instructions decoded: the operand list, shapes and types, refusals with a caret; and the copies of the opcode table
// for each instruction set give the same bits, NaN and infinities included.
#include <cstring>
#include <memory>

#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_matrix_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

std::string around(const std::string& instruction) {
    return ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %a<9>, "
           "%b<9>;\n.reg "
           ".f32 %f<17>;\n.reg .b64 %d<9>;\n.reg .f64 %g<9>;\n.reg .pred %p<2>;\n" +
           instruction + "\nret;\n}\n";
}

std::shared_ptr<const Program> decoded(const std::string& instruction) {
    return decode(parse(around(instruction), "matrix.ptx").value(), "k").value();
}

std::string refusal(const std::string& instruction) {
    const auto module = parse(around(instruction), "matrix.ptx");
    if (!module) return module.error().message;
    const auto program = decode(module.value(), "k");
    return program ? "accepted" : program.error().message;
}

const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";

}  // namespace

TEST_CASE("a product lists its registers, destinations first, and the kernel's register count knows them") {
    const auto program =
        decoded(mma + "{%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%f4, %f5, %f6, 0f3F800000};");
    const DecodedInstruction& i = program->instructions[0];
    CHECK(i.kind == Kind::matrix);
    CHECK(i.opcode->unit == Unit::tensor);
    CHECK(i.list_destinations == 4);
    CHECK(i.list_sources == 10);
    CHECK(i.shape[0] == 16);
    CHECK(i.shape[1] == 8);
    CHECK(i.shape[2] == 16);
    CHECK(program->lists.size() == 14);
    CHECK(program->lists.back() < 0);                       // the number
    CHECK(program->registers_per_thread == 4 + 2 + 3 + 2);  // live before it, and the two that every kernel has
}

TEST_CASE("wmma of f16 names eight registers where four hold the matrix") {
    const auto program = decoded(
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%a0, "
        "%a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%f8, %f9, %f10, %f11, "
        "%f12, %f13, %f14, %f15};");
    CHECK(program->instructions[0].list_destinations == 8);
    CHECK(program->instructions[0].list_sources == 4 + 4 + 8);
}

TEST_CASE("wrong registers, shapes and selectors are refused with what is needed") {
    CHECK(refusal(mma + "{%f0, %f1, %f2}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%f4, %f5, %f6, %f7};") ==
          "'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' needs 4 registers of .f32 here, not 3");
    CHECK(refusal(mma + "{%f0, %f1, %f2, %f3}, {%a0, %a1, %d2, %a3}, {%b0, %b1}, {%f4, %f5, %f6, %f7};") ==
          "'%d2' is a register of .b64, 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' needs .b32");
    CHECK(refusal(mma + "{%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, {%b0, %b1};") ==
          "'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' takes 4 operands, not 3");
    CHECK(refusal("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0};")
              .starts_with("unknown form 'mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32' of 'mma', did you mean "));
    CHECK(refusal("tcgen05.alloc [%d0], 32;").ends_with("the tensor cores of Blackwell are not modelled"));
    CHECK(refusal("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0};")
              .ends_with("'wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16' takes 10 operands, not 1"));
    const std::string sparse =
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, "
        "{%b0, %b1, %b2, %b3}, {%f4, %f5, %f6, %f7}, %b4, ";
    CHECK(refusal(sparse + "1;") == "accepted");
    CHECK(refusal(sparse + "2;") ==
          "the selector of 'mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32' is a number from 0 to 1");
    const std::string group = "wgmma.mma_async.sync.aligned.m64n8k";
    const std::string operands = ".f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, ";
    CHECK(refusal(group + "16" + operands + "0;") == "accepted");
    CHECK(refusal(group + "16" + operands + "2;") == "expected 0 or 1");
    CHECK(refusal(group + "8" + operands + "0;")
              .ends_with("it is m64, n 8 to 256 in steps of 8 (integers above 32: 16), k 16"));
    CHECK(refusal("wgmma.wait_group.sync.aligned %a0;") == "expected a number of groups");
}

TEST_CASE("modifiers may come in the orders that assemblers take") {
    const std::string eight = "{%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}";
    for (const std::string& instruction : {
             std::string("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + eight + ", [%d0];"),
             std::string("wmma.load.a.sync.aligned.m16n16k16.row.global.f16 " + eight + ", [%d0];"),
             std::string("wmma.load.a.sync.aligned.m16n16k16.global.row.f16 " + eight + ", [%d0], 32;"),
             std::string("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%g0, %g1}, {%g2}, {%g3}, {%g4, %g5};"),
             std::string("wmma.mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%g0, %g1}, {%g2}, {%g3}, {%g4, %g5};"),
             std::string("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rp {%g0, %g1}, {%g2}, {%g3}, {%g4, %g5};"),
             std::string("ldmatrix.sync.aligned.x1.m8n8.shared.trans.b16 {%a0}, [%a1];"),
             std::string("stmatrix.sync.aligned.x1.trans.m8n8.shared.b16 [%a1], {%a0};"),
             std::string("wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 {%a0, %a1, %a2, %a3}, %d0, %d1, %p0;"),
         }) {
        INFO(instruction);
        CHECK(refusal(instruction) == "accepted");
    }
    CHECK(refusal("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%f0};").starts_with("unknown form "));
}

TEST_CASE("each copy of the table multiplies to the same bits, whatever the registers hold") {
    const std::span<const Opcode> portable = opcodes(Simd::portable);
    size_t compared = 0;
    for (const Simd simd : {Simd::avx2, Simd::avx512}) {
        const std::span<const Opcode> fast = opcodes(simd);
        if (fast.empty()) continue;
        for (size_t r = 0; r < portable.size(); ++r) {
            if (portable[r].kind != Kind::matrix) continue;
            for (size_t n = 0; n < portable[r].forms.size(); ++n) {
                Rng rng(n);
                constexpr size_t most = 40, bytes = 256;
                alignas(64) static std::byte in[most][bytes], out[2][most][bytes];
                for (auto& lanes : in)
                    for (size_t i = 0; i < bytes; ++i) lanes[i] = static_cast<std::byte>(rng.below(256));
                std::memset(out, 0, sizeof out);
                const std::byte* s[most];
                std::byte* d[2][most];
                for (size_t i = 0; i < most; ++i) s[i] = in[i], d[0][i] = out[0][i], d[1][i] = out[1][i];
                portable[r].forms[n].many(d[0], s);
                fast[r].forms[n].many(d[1], s);
                INFO(portable[r].name << portable[r].forms[n].pattern);
                CHECK(std::memcmp(out[0], out[1], sizeof out[0]) == 0);
                ++compared;
            }
        }
    }
    if (!opcodes(Simd::avx2).empty()) CHECK(compared > 100);
}

}  // namespace ptx_matrix_test
