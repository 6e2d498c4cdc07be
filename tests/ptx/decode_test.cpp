// The front end on PTX as compilers write it, and on PTX with one thing wrong.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_decode_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";

std::shared_ptr<const Program> decoded(const std::string& body,
                                       const std::string& parameters = ".param .u64 out, .param .u32 n") {
    const auto module = parse(head + ".visible .entry k(" + parameters + ") {\n" + body + "\n}\n", "k.ptx");
    return decode(module.value()).value();
}

// What is wrong with a kernel of this body: "line:column: message", lines counted in the body from 1.
std::string complaint(const std::string& body) {
    const auto module = parse(head + ".visible .entry k(.param .u64 out, .param .u32 n) {\n" + body + "\n}\n", "k.ptx");
    Diagnostic d;
    if (!module) {
        d = module.error();
    } else {
        const auto program = decode(module.value());
        if (program) return "nothing";
        d = program.error();
    }
    return std::to_string(d.where.line - 4) + ":" + std::to_string(d.where.column) + ": " + d.message;
}

uint64_t constant_of(const Program& p, int32_t operand, size_t bytes) {
    REQUIRE(operand < 0);
    uint64_t bits = 0;
    std::memcpy(&bits, p.constants.data() + ~operand, bytes);
    return bits;
}

}  // namespace

TEST_CASE("a kernel as nvcc writes it decodes instruction by instruction") {
    const auto p = decoded(R"(
	.reg .pred 	%p<2>;
	.reg .f32 	%f<5>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<8>;
	.loc	1 18 0

	ld.param.u32 	%r2, [n];
	ld.param.u64 	%rd1, [out];
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	.loc	1 19 3
	mad.lo.s32 	%r1, %r3, %r4, %r5;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB0_2;

	cvta.to.global.u64 	%rd3, %rd1;
	mul.wide.s32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd3, %rd5;
	ld.global.f32 	%f2, [%rd6];
	fma.rn.f32 	%f4, %f2, 0f40000000, %f2;
	st.global.f32 	[%rd6+-4], %f4;

$L__BB0_2:
	.loc	1 21 1
	ret;
)");
    const auto& i = p->instructions;
    REQUIRE(i.size() == 15);
    CHECK(i[0].kind == Kind::load);
    CHECK(i[0].space == Space::param);
    CHECK(i[0].offset == 8);
    CHECK(i[0].address == no_operand);
    CHECK(i[2].kind == Kind::special_register);
    CHECK(i[2].mode == static_cast<uint8_t>(SpecialRegister::ctaid_x));
    CHECK(i[5].opcode->name == "mad");
    CHECK(i[5].lanes != nullptr);
    CHECK(i[5].line == 19);
    CHECK(i[7].kind == Kind::branch);
    CHECK(i[7].target == 14);
    CHECK(i[7].reconvergence == 14);
    CHECK(i[7].guard != no_operand);
    CHECK(i[13].offset == -4);
    CHECK(reads(*p, i[13], i[13].address));
    CHECK(reads(*p, i[13], i[13].source[0]));
    CHECK(only_result(i[13]) == no_operand);
    CHECK(i[14].kind == Kind::exit);
    CHECK(i[14].line == 21);
    CHECK(constant_of(*p, i[12].source[1], 4) == 0x40000000u);
    CHECK(constant_of(*p, i[9].source[1], 4) == 4);
    CHECK(p->parameters[0].pointer);
    CHECK_FALSE(p->parameters[1].pointer);
    CHECK(p->parameter_bytes == 12);
    CHECK(text_of(*p, 5) == "mad.lo.s32 %r1, %r3, %r4, %r5");
    CHECK(text_of(*p, 7) == "@%p1 bra $L__BB0_2");
    for (const auto& r : p->registers) CHECK(r.offset % 64 == 0);
}

TEST_CASE("a lane function runs over 32 lanes and may write over its source") {
    const auto p = decoded(".reg .f32 a, b; add.f32 a, a, b; ret;");
    alignas(64) float a[32], b[32];
    for (int i = 0; i < 32; ++i) a[i] = static_cast<float>(i), b[i] = 0.5f;
    auto* bytes = reinterpret_cast<std::byte*>(a);
    p->instructions[0].lanes(bytes, bytes, reinterpret_cast<std::byte*>(b), nullptr);
    for (int i = 0; i < 32; ++i) CHECK(a[i] == static_cast<float>(i) + 0.5f);
}

TEST_CASE("registers belong to their braces and an inner name hides an outer one") {
    const auto p = decoded(
        ".reg .u32 t, u; mov.u32 t, 1; { .reg .u64 t; mov.u64 t, 2; } { .reg .u64 t; mov.u64 t, 3; } mov.u32 u, t; ret;");
    CHECK(p->instructions[0].destination[0] == p->instructions[3].source[0]);
    CHECK(p->instructions[1].destination[0] != p->instructions[0].destination[0]);
    CHECK(p->instructions[1].destination[0] != p->instructions[2].destination[0]);
}

TEST_CASE("vectors, sinks, second predicates and packed moves decode") {
    const auto p = decoded(
        ".reg .f32 %f<5>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .b16 %h<3>; .reg .pred p, q, r;\n"
        "ld.global.nc.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+16];\n"
        "mov.b32 {%h1, _}, %r1; mov.b64 %rd2, {%r1, 7}; @!p shfl.sync.bfly.b32 %r3|q, %r1, 16, 31, -1;\n"
        "setp.lt.and.f32 p|q, %f1, 0f3F800000, !r; ld.global.u8 %r4, [%rd1]; st.global.u32 [%rd1], %rd2;\n"
        "mov.u32 %r5, WARP_SZ; add.s32 %r5, %r5, -1; ret;");
    const auto& i = p->instructions;
    CHECK(i[0].vector == 4);
    CHECK(i[0].offset == 16);
    CHECK(std::count_if(std::begin(i[0].destination), std::end(i[0].destination), is_register) == 4);
    CHECK(i[1].kind == Kind::lane_wise_many);
    CHECK(i[1].destination[1] == no_operand);
    CHECK(i[1].destination_type == Type::b16);
    CHECK(constant_of(*p, i[2].source[1], 4) == 7);
    CHECK(i[3].kind == Kind::shuffle);
    CHECK(i[3].mode == 2);
    CHECK(i[3].guard_negated);
    CHECK(i[3].destination[1] != no_operand);
    CHECK(i[4].kind == Kind::lane_wise_many);
    CHECK(i[4].destination[1] == i[3].destination[1]);
    CHECK(i[5].type == Type::u8);
    CHECK(i[5].destination_type == Type::b32);
    CHECK(i[6].type == Type::u32);
    CHECK(i[6].destination_type == Type::b64);
    CHECK(constant_of(*p, i[7].source[0], 4) == 32);
    CHECK(constant_of(*p, i[8].source[1], 4) == 0xffffffffu);
}

TEST_CASE("modifiers stand in any order but for types, as assemblers take them") {
    const std::string registers = ".reg .f32 f; .reg .f64 d; .reg .u32 r; .reg .s32 s; .reg .u64 a; .reg .pred p;\n";
    const auto same = [&](const std::string& usual, const std::string& other) {
        INFO(other);
        const auto one = decoded(registers + usual + " ret;"), two = decoded(registers + other + " ret;");
        CHECK(one->instructions[0].opcode == two->instructions[0].opcode);
        CHECK(one->instructions[0].lanes == two->instructions[0].lanes);
        CHECK(one->instructions[0].type == two->instructions[0].type);
    };
    same("div.rn.ftz.f32 f, f, f;", "div.ftz.rn.f32 f, f, f;");
    same("fma.rn.ftz.sat.f32 f, f, f, f;", "fma.sat.ftz.rn.f32 f, f, f, f;");
    same("cvt.rn.f32.f64 f, d;", "cvt.f32.rn.f64 f, d;");
    same("setp.lt.ftz.f32 p, f, f;", "setp.ftz.lt.f32 p, f, f;");
    same("ld.global.u32 r, [a];", "ld.u32.global r, [a];");
    const std::string swapped = complaint(registers + "cvt.rn.f32.u64.f64 f, d;");
    CHECK(swapped.find("unknown form") != std::string::npos);
    const auto one = decoded(registers + "cvt.rn.f32.s32 f, s; cvt.f32.rn.s32 f, s; ret;");
    CHECK(one->instructions[0].lanes == one->instructions[1].lanes);
}

TEST_CASE("line 0 of a store that two branches share is the line nearest to it") {
    const std::string text =
        head +
        ".visible .entry k(.param .u64 p) {\n.reg .u64 a; .reg .u32 r;\n.loc 1 3 1\nld.param.u64 a, [p];\n"
        ".loc 1 7 1\nmov.u32 r, 1;\n.loc 1 0 0\nst.global.u32 [a], r;\nst.global.u32 [a+4], r;\n"
        ".loc 1 9 1\nret;\n}\n.file 1 \"own.cu\"\n";
    const auto program = decode(parse(text, "own.ptx").value()).value();
    CHECK(program->instructions[2].line == 7);  // one away from 7, two from 9
    CHECK(program->instructions[3].line == 9);  // the other way round
    CHECK(program->instructions[3].file == program->instructions[0].file);
}

TEST_CASE("what came with Blackwell is said to be not modelled") {
    const std::string registers = ".reg .f32 f; .reg .b32 r; .reg .b16 h; .reg .b64 d;\n";
    for (const char* form : {"add.rn.f32.f16 f, h, f;", "redux.sync.max.f32 f, f, -1;", "max.f32 f, f, f, f;",
                             "add.rn.f32x2 d, d, d;", "fma.rn.f32x2 d, d, d, d;", "cvt.rn.satfinite.e2m1x2.f32 h, f, f;",
                             "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 f, f;"}) {
        INFO(form);
        CHECK(complaint(registers + form).find("not modelled") != std::string::npos);
    }
}

TEST_CASE("what is wrong is said with line, column and the nearest name") {
    CHECK(complaint(".reg .f32 a;\nad.f32 a, a, a;") == "2:1: unknown instruction 'ad.f32', did you mean 'add.f32'?");
    CHECK(complaint(".reg .f32 a;\n  add.f31 a, a, a;") == "2:3: unknown form 'add.f31' of 'add', did you mean 'add.f32'?");
    CHECK(complaint(".reg .f32 alpha;\nadd.f32 alpha, alpha, alpah;") ==
          "2:23: unknown name 'alpah', did you mean 'alpha'?");
    CHECK(complaint(".reg .f32 a;\nadd.s32 a, 1, 2;") == "2:9: 'a' is a register of .f32, 'add.s32' gives .s32");
    CHECK(complaint(".reg .b32 a;\nadd.s32 a, a;") == "2:1: 'add.s32' takes 3 operands (d = a + b), not 2");
    CHECK(complaint("bra done;\ndnoe: ret;") == "1:5: no label 'done' in sight, did you mean 'dnoe'?");
    CHECK(complaint(".reg .b32 a\nadd.s32 a, a, a;") == "2:1: expected ';' after the registers, found 'add.s32'");
    CHECK(complaint(".reg .b32 a; mov.u32 a, 12ab;") == "1:25: this number ends in 'a'");
    CHECK(complaint("call.uni vprintf, (a);") == "1:1: vprintf takes 2 arguments, not 1");
    CHECK(complaint("call.uni function, (a);") == "1:10: unknown name 'function'");
    const std::string range = ".reg .b32 %r<9>; .reg .pred %p<1>; .reg .f32 %sum;\n";
    CHECK(complaint(range + "mov.u32 %r1, %r9;") == "2:14: unknown name '%r9': '%r<9>' declares %r0 to %r8");
    CHECK(complaint(range + "add.u32 %r17, %r1, 2;") == "2:9: unknown name '%r17': '%r<9>' declares %r0 to %r8");
    CHECK(complaint(range + "add.u32 %r1, %r, 2;") == "2:14: unknown name '%r': '%r<9>' declares %r0 to %r8");
    CHECK(complaint(range + "@%p1 mov.u32 %r1, 0;") == "2:6: unknown predicate '%p1': '%p<1>' declares %p0 alone");
    CHECK(complaint("{ .reg .b32 %r<2>; }\n" + range + "mov.u32 %r1, %r9;") ==
          "3:14: unknown name '%r9': '%r<9>' declares %r0 to %r8");
    CHECK(complaint(range + "mov.u32 %r1, %x3;") == "2:14: unknown name '%x3', did you mean '%r3'?");
    CHECK(complaint(range + "mov.f32 %sun, 0f00000000;") == "2:9: unknown name '%sun', did you mean '%sum'?");
    CHECK(complaint(range + "mov.u32 %r1, %tid;") == "2:14: unknown name '%tid', did you mean '%tid.x'?");
    CHECK(complaint(range + "mov.u32 %r1, %ctaidx;") == "2:14: unknown name '%ctaidx', did you mean '%ctaid.x'?");
    CHECK(complaint("tcgen05.alloc a;") ==
          "1:1: the instruction 'tcgen05.alloc' cannot run here: the tensor cores of Blackwell are not modelled");
    CHECK(complaint(".shared .b8 s[300000]; ret;") == "1:13: a kernel has at most 256 KiB of shared memory");
    CHECK(complaint("ret;") == "nothing");
}

TEST_CASE("what a call passes is stored in the frame's local memory, where a system function finds it") {
    const auto p = decoded(
        ".reg .b64 %rd<3>; .local .b64 l; { .param .b64 format; .param .b64 values; .param .b32 count;\n"
        "st.param.b64 [format], %rd1; st.param.b64 [values], %rd2; call.uni (count), vprintf, (format, values); }\n"
        "{ .param .b64 size; .param .b64 pointer; call.uni (pointer), malloc, (size); } ret;");
    const auto& i = p->instructions;
    CHECK(i[0].kind == Kind::store);
    CHECK(i[0].space == Space::local);
    CHECK(i[0].offset == 8);
    CHECK(i[1].offset == 16);
    CHECK(i[2].kind == Kind::system);
    CHECK(i[2].mode == static_cast<uint8_t>(SystemFunction::vprintf));
    CHECK(constant_of(*p, i[2].source[0], 4) == 8);
    CHECK(constant_of(*p, i[2].source[1], 4) == 16);
    CHECK(constant_of(*p, i[2].destination[0], 4) == 24);
    CHECK_FALSE(is_register(i[2].destination[0]));
    CHECK(constant_of(*p, i[3].source[0], 4) == 8);  // scopes side by side share their places
    CHECK(p->local_bytes == 32);
}

TEST_CASE("branches meet again at the immediate post-dominator") {
    const auto p = decoded(
        ".reg .pred p; .reg .b32 r;\n"
        "@p bra A; mov.u32 r, 1; @p bra B; mov.u32 r, 2; B: mov.u32 r, 3; bra C; A: mov.u32 r, 4; @p ret;\n"
        "C: mov.u32 r, 5; L: add.u32 r, r, 1; @p bra L; E: bra E;");
    const auto& i = p->instructions;
    CHECK(i[0].reconvergence == 8);    // C
    CHECK(i[2].reconvergence == 4);    // B
    CHECK(i[10].reconvergence == 11);  // the loop without an end counts as left from its last block
    CHECK(i[11].target == 11);
}

TEST_CASE("shared, local, parameter and global variables have their places") {
    const auto module = parse(head + R"(.extern .shared .align 16 .b8 dyn[];
.global .align 4 .f32 g[2] = {1.5, -2.0};
.shared .align 4 .b8 unused[100000];
.visible .entry k(.param .u8 a, .param .align 8 .b8 s[20], .param .u64 .ptr .global .align 4 p) .reqntid 32, 2, 1
{ .local .align 8 .b8 depot[12]; .shared .align 4 .b8 tile[100]; .reg .b32 r; .reg .b64 d; .reg .f32 f;
  mov.u32 r, tile; mov.u64 d, dyn; ld.shared.f32 f, [dyn+8]; ld.param.f32 f, [s+16]; mov.u64 d, g; ld.global.f32 f, [g+4];
  st.local.f32 [depot+4], f; ret; })",
                              "k.ptx");
    const auto p = decode(module.value()).value();
    CHECK(p->static_shared == 100);
    CHECK(p->dynamic_shared_offset == 112);
    CHECK(shared_bytes(*p, 0xffffffff) == 112 + uint64_t{0xffffffff});  // whatever a launch asks for
    CHECK(p->local_bytes == 16);
    CHECK(p->parameters[1].offset == 8);
    CHECK(p->parameters[2].offset == 32);
    CHECK(p->parameters[2].pointer);
    CHECK(p->parameter_bytes == 40);
    CHECK(p->required_threads[1] == 2);
    CHECK(constant_of(*p, p->instructions[1].source[0], 8) == 112);
    CHECK(p->instructions[2].offset == 120);
    CHECK(p->instructions[3].offset == 24);
    CHECK(p->instructions[4].mode == static_cast<uint8_t>(SpecialRegister::variable_address));
    CHECK(p->instructions[5].variable == 0);
    CHECK(p->instructions[5].offset == 4);
    float initial[2];
    std::memcpy(initial, p->variables[0].initial.data(), 8);
    CHECK(initial[1] == -2.0f);
}

TEST_CASE("a header's function that is inlined twice counts as the line of each call") {
    // As cooperative groups' grid.sync() comes out: the second time not every step of the way is named again.
    const auto p = decoded(
        ".reg .b32 r;\n.loc 1 10 3\nmov.u32 r, 1;\n"
        ".loc 2 82 9, function_name $L__i0, inlined_at 1 14 3\nmov.u32 r, 2;\n"
        ".loc 3 78 1, function_name $L__i1, inlined_at 2 82 9\nmov.u32 r, 3;\n"
        ".loc 4 98 1, function_name $L__i2, inlined_at 3 78 1\nmov.u32 r, 4;\n"
        ".loc 2 82 9, function_name $L__i0, inlined_at 1 20 3\nmov.u32 r, 5;\n"
        ".loc 4 98 1, function_name $L__i2, inlined_at 3 78 1\nmov.u32 r, 6; ret;");
    std::vector<int32_t> lines;
    for (const auto& i : p->instructions) lines.push_back(i.line);
    CHECK(lines == std::vector<int32_t>{10, 14, 14, 14, 20, 20, 20});
}

TEST_CASE("code inlined from a header counts as the kernel's own line") {
    const auto p = decoded(
        ".reg .b32 r;\n.loc 1 10 3\nmov.u32 r, 1;\n.loc 2 84 3, function_name $L__i0, inlined_at 1 43 3\nmov.u32 r, 2;\n"
        ".loc 3 7 1, function_name $L__i1, inlined_at 2 84 3\nmov.u32 r, 3; ret;");
    CHECK(p->instructions[0].line == 10);
    CHECK(p->instructions[1].line == 43);
    CHECK(p->instructions[2].line == 43);
    CHECK(p->instructions[2].file == 1);
}

TEST_CASE("code inlined from a header that the compiler does not place counts as the own line in front of it") {
    const auto p = decoded(
        ".reg .b32 r;\n.loc 1 10 3\nmov.u32 r, 1;\n.loc 1 12 9\n.loc 2 41 1\nmov.u32 r, 2;\n.loc 2 51 1\nmov.u32 r, 3;\n"
        ".loc 1 13 7\nmov.u32 r, 4;\n.loc 1 0 7\n.loc 2 41 1\nmov.u32 r, 5; ret;");
    std::vector<int32_t> lines;
    for (const auto& i : p->instructions) {
        lines.push_back(i.line);
        CHECK(i.file == 1);
    }
    CHECK(lines == std::vector<int32_t>{10, 12, 12, 13, 13, 13});
}

TEST_CASE("a kernel is found by its C++ name") {
    const std::string two =
        head + ".entry _Z3addPf(.param .u64 a) { ret; }\n.entry _ZN4math3mulILi4EEEvPf(.param .u64 a) { ret; }";
    const auto module = parse(two, "two.ptx");
    CHECK(entries(module.value()).size() == 2);
    CHECK(decode(module.value(), "mul").value()->kernel == "_ZN4math3mulILi4EEEvPf");
    CHECK(decode(module.value(), "_Z3addPf").value()->kernel == "_Z3addPf");
    CHECK(decode(module.value(), "_Z3addPf").value()->shown_name() == "add");
    CHECK(readable_name("_Z4line4LinePf") == "line");  // the type Line stands behind the name
    CHECK(readable_name("_ZN12_GLOBAL__N_15saxpyEPKf") == "saxpy");
    CHECK(readable_name("_ZL5saxpyPf") == "saxpy");
    CHECK(readable_name("saxpy") == "saxpy");
    CHECK(readable_name("_Z") == "_Z");
    CHECK(readable_name("_Z99short") == "short");
    CHECK(decode(module.value(), "ad").error().message == "there is no kernel 'ad' here, did you mean 'add'?");
    CHECK(decode(module.value()).error().message == "there are 2 kernels here, one has to be named: add, mul");
    const auto instances = parse(head +
                                     ".entry _Z6matmulIfLi16EEvPKT_S2_PS0_i(.param .u64 a) { ret; }\n"
                                     ".entry _Z6matmulIPK6__halfLin4ELb1EEvPKT_S2_PS0_i(.param .u64 a) { ret; }",
                                 "instances.ptx");
    CHECK(decode(instances.value(), "matmul<float,16>").value()->kernel == "_Z6matmulIfLi16EEvPKT_S2_PS0_i");
    CHECK(decode(instances.value(), "matmul<float, 16>").value()->shown_name() == "matmul<float, 16>");
    CHECK(
        decode(instances.value(), "matmul").error().message ==
        "there are 2 kernels called 'matmul' here: name one as the PTX does, such as _Z6matmulIfLi16EEvPKT_S2_PS0_i, or as "
        "matmul<float, 16>");
    CHECK(decode(instances.value()).error().message ==
          "there are 2 kernels here, one has to be named: matmul<float, 16>, matmul<const __half*, -4, true>");
    const auto overloads = parse(head +
                                     ".entry _Z1kPi(.param .u64 a) { ret; }\n"
                                     ".entry _Z1kPKfS0_Pfi(.param .u64 a) { ret; }",
                                 "overloads.ptx");
    CHECK(decode(overloads.value()).error().message ==
          "there are 2 kernels here, one has to be named: k(int*), k(const float*, const float*, float*, int)");
    CHECK(decode(overloads.value(), "k").error().message ==
          "there are 2 kernels called 'k' here: name one as the PTX does, such as _Z1kPi, or as k(int*)");
    CHECK(decode(overloads.value(), "k(int*)").value()->kernel == "_Z1kPi");
    const auto spaces = parse(head +
                                  ".entry _ZN1a1kEPi(.param .u64 a) { ret; }\n.entry _ZN1a1b1kEPi(.param .u64 a) { ret; }\n"
                                  ".entry _ZN1c1tIfEEvPT_(.param .u64 a) { ret; }\n"
                                  ".entry _ZN12_GLOBAL__N_14hereEPi(.param .u64 a) { ret; }",
                              "spaces.ptx");
    CHECK(decode(spaces.value(), "a::k").value()->kernel == "_ZN1a1kEPi");
    CHECK(decode(spaces.value(), "a::k").value()->shown_name() == "a::k");
    CHECK(decode(spaces.value(), "a::b::k").value()->kernel == "_ZN1a1b1kEPi");
    CHECK(decode(spaces.value(), "b::k").value()->kernel == "_ZN1a1b1kEPi");
    CHECK(decode(spaces.value(), "c::t<float>").value()->kernel == "_ZN1c1tIfEEvPT_");
    CHECK(decode(spaces.value(), "here").value()->kernel == "_ZN12_GLOBAL__N_14hereEPi");
    CHECK(decode(spaces.value(), "k").error().message ==
          "there are 2 kernels called 'k' here: name one as the PTX does, such as _ZN1a1kEPi, or as a::k");
    CHECK(decode(spaces.value(), "x::k").error().message.starts_with("there is no kernel 'x::k' here"));
    const std::string of_header = ".entry _ZN3cub17CUB_300001_SM_7506detail11EmptyKernelIvEEvv() { ret; }\n";
    const auto sorting = parse(head + of_header + ".entry _Z4sortPf(.param .u64 a) { ret; }", "sort.ptx");  // includes cub
    CHECK(decode(sorting.value()).value()->kernel == "_Z4sortPf");
    CHECK(entries(sorting.value()) == std::vector<std::string>{"_Z4sortPf"});
    CHECK(decode(sorting.value(), "EmptyKernel").value()->shown_name() == "EmptyKernel");
    CHECK(entries(parse(head + of_header, "empty.ptx").value()).size() == 1);
}

TEST_CASE("every bundled kernel decodes") {
    const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "kernels" / "ptx";
    int kernels = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".ptx") continue;
        const auto module = parse(read_file(file.path()).value(), file.path().filename().string());
        if (!module) FAIL(render(module.error()));
        for (const std::string& name : entries(module.value())) {
            const auto program = decode(module.value(), name);
            if (!program) FAIL(render(program.error()));
            const Program& p = *program.value();
            ++kernels;
            INFO(name);
            CHECK(p.registers_per_thread >= 4);
            CHECK(p.registers_per_thread <= 255);
            int lines = 0;
            for (const auto& i : p.instructions) lines += i.line > 0;
            CHECK(lines > 0);
        }
    }
    CHECK(kernels > 0);
}

TEST_CASE("the registers a thread are those that a comment in the head states for the kernel") {
    const std::string body =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n.visible .entry kk() { ret; }\n";
    const auto registers = [&](const std::string& head, const std::string& kernel) {
        return decode(parse(head + body, "k.ptx").value(), kernel).value()->registers_per_thread;
    };
    const uint32_t unstated = registers("", "k");
    const std::string head = "// k.cu fnv1a64:0\n// registers kk 77\n// registers k 33\n//\n";
    CHECK(registers(head, "k") == 33);
    CHECK(registers(head, "kk") == 77);
    CHECK(registers("// registers kk 77\n", "k") == unstated);
    for (const char* odd : {"// registers k\n", "// registers k 0\n", "// registers k 256\n", "// registers k x\n",
                            "// registers k 99999999999999999999\n", "\n// registers k 33\n"})
        CHECK(registers(odd, "k") == unstated);
    CHECK(registers("// registers k 0\n// registers k 40\n", "k") == 40);
}

TEST_CASE("the registers a thread are those of the GPU where the head states them for several") {
    const std::string body = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    const auto registers = [&](const std::string& head, uint32_t compute) {
        return registers_on(*decode(parse(head + body, "k.ptx").value(), "k").value(), compute);
    };
    const std::string head = "// registers k 43 sm_60:26 sm_80:30 sm_86:38\n";
    CHECK(registers(head, 53) == 26);  // before all: as the first
    CHECK(registers(head, 60) == 26);
    CHECK(registers(head, 70) == 26);
    CHECK(registers(head, 75) == 43);  // the module's own
    CHECK(registers(head, 80) == 30);
    CHECK(registers(head, 87) == 38);
    CHECK(registers(head, 120) == 38);
    CHECK(registers("// registers k 43\n", 90) == 43);
    CHECK(registers("// registers k 43 sm_80:x sm_86:38\n", 90) == 43);  // what is not understood ends the line
    CHECK(registers("// registers k 43 sm_80:30 sm_86:0\n", 90) == 30);
    CHECK(registers("// registers k 43 sm_80:30 sm_86:256\n", 90) == 30);
    CHECK(registers("// registers k 43 sm_80:30x\n", 90) == 43);
    CHECK(registers("", 90) == registers("", 60));  // nothing stated: what lives at once, whatever the GPU
}

TEST_CASE("launch bounds keep the registers as few as ptxas does") {
    // Each as the ptxas of CUDA 13 has it for sm_80, of a kernel with 80 values that live at once.
    const auto registers = [](const std::string& attributes, const std::string& target = "sm_80") {
        std::string body = ".reg .f32 %f<90>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [o];\n";
        for (int i = 0; i < 80; ++i)
            body += "ld.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
        for (int i = 0; i < 80; ++i)
            body += "st.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" + std::to_string(79 - i) + ";\n";
        const std::string text = ".version 8.0\n.target " + target +
                                 "\n.address_size 64\n.visible .entry k(.param .u64 o) " + attributes + " {\n" + body +
                                 "ret;\n}\n";
        return decode(parse(text, "k.ptx").value()).value()->registers_per_thread;
    };
    const uint32_t all = registers("");
    CHECK(all > 80);
    CHECK(all < 96);
    CHECK(registers(".maxntid 1024, 1, 1") == 64);
    CHECK(registers(".maxntid 32, 32, 1") == 64);
    CHECK(registers(".reqntid 1000") == 64);
    CHECK(registers(".maxntid 1024, 1, 1 .minnctapersm 2") == 32);
    CHECK(registers(".maxntid 1024, 1, 1 .minnctapersm 3") == 64);  // 3072 threads fit no SM: as if it were not there
    CHECK(registers(".maxntid 1024, 1, 1 .minnctapersm 2", "sm_86") == 64);
    CHECK(registers(".maxntid 512, 1, 1 .minnctapersm 2") == 64);
    CHECK(registers(".maxntid 512, 1, 1 .minnctapersm 3") == 40);
    CHECK(registers(".maxntid 256, 1, 1 .minnctapersm 5") == 48);
    CHECK(registers(".maxntid 200, 1, 1 .minnctapersm 5") == 56);
    CHECK(registers(".maxntid 96, 1, 1 .minnctapersm 9") == 72);
    CHECK(registers(".maxntid 768, 1, 1") == 80);
    CHECK(registers(".maxntid 640, 1, 1") == all);
    CHECK(registers(".maxntid 64, 1, 1 .minnctapersm 32") == 32);
    CHECK(registers(".maxntid 32, 1, 1 .minnctapersm 33") == all);
    CHECK(registers(".maxnreg 40") == 40);
}

TEST_CASE("bundled PTX states ptxas's count of registers for every kernel") {
    const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / "kernels")) {
        if (file.path().extension() != ".ptx") continue;
        const std::string text = read_file(file.path()).value();
        const auto module = parse(text, file.path().filename().string());
        for (const std::string& name : entries(module.value())) {
            INFO(file.path().filename().string() << ", " << name);
            CHECK(text.find("// registers " + name + " ") != std::string::npos);
        }
    }
}

}  // namespace ptx_decode_test
