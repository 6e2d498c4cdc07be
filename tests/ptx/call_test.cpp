// Calls as decode sees them: who may be called, what passes where, what it adds up to, and what is refused.
#include <cstring>

#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace ptx_call_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";

Result<std::shared_ptr<const Program>> decode_text(const std::string& text) {
    const Result<Module> module = parse(head + text, "k.ptx");
    if (!module.ok()) return module.error();
    return decode(module.value(), "k");
}
std::shared_ptr<const Program> program(const std::string& text) {
    return decode_text(text).value();
}
std::string complaint(const std::string& text) {
    const auto result = decode_text(text);
    return result.ok() ? "nothing" : result.error().message;
}
std::string kernel(const std::string& body) {
    return ".entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" + body +
           "\nret;\n}\n";
}
const std::string twice =
    ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, "
    "%r1, %r1; st.param.b32 [r], %r2; ret; }\n";

}  // namespace

TEST_CASE("a program holds the kernel and the functions that it may call, each with its instructions") {
    const auto p =
        program(".func unused() { frobnicate; }\n" + twice +
                ".func (.reg .u32 %o) four(.reg .u32 %i) { call (%o), twice, (%i); call (%o), twice, (%o); ret; }\n" +
                kernel("call (%r1), four, (7);"));
    REQUIRE(p->functions.size() == 3);
    CHECK(p->functions[0].name == "k");
    CHECK(p->functions[1].name == "four");
    CHECK(p->functions[2].name == "twice");
    CHECK(p->function_at == std::vector<int32_t>{-1, 2, 1});
    uint32_t begin = 0;
    for (const Function& f : p->functions) {
        CHECK(f.begin == begin);
        CHECK(f.end > f.begin);
        begin = f.end;
    }
    CHECK(begin == p->instructions.size());
    CHECK(p->instructions[0].kind == Kind::call);
    CHECK(p->instructions[0].target == p->functions[1].begin);
    CHECK(p->instructions[1].kind == Kind::exit);
    CHECK(p->instructions[p->functions[1].end - 1].kind == Kind::return_);
    CHECK(p->calls[1].function == 2);
    CHECK(p->calls[1].arguments[0].operand == p->functions[1].parameters[0].operand);
    CHECK(p->calls[1].results[0].operand == p->functions[1].results[0].operand);
    CHECK(p->functions[2].parameters[0].operand == no_operand);
    CHECK(p->functions[2].parameters[0].offset == 4);  // behind the result
    for (const Register& r : p->registers)
        CHECK((r.function == 0) == (r.name == "%r1" && r.offset < 128 && r.function == 0));
}

TEST_CASE("only the first definition of a name counts, a declaration and an alias name it too") {
    const auto p = program(".func g();\n.weak .func g() { ret; }\n.weak .func g() { frobnicate; }\n.alias h, g;\n" +
                           kernel("call h; call.uni g;"));
    REQUIRE(p->functions.size() == 2);
    CHECK(p->calls[0].function == 1);
    CHECK(p->calls[1].function == 1);
    CHECK(complaint(".extern .func far();\n" + kernel("call far;")) == "'far' is declared here, but its code is elsewhere");
}

TEST_CASE("control flow of each function is its own") {
    const auto p = program(R"(
.func f(.param .b32 x) {
    .reg .pred %p<2>; .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra A;
    mov.u32 %r2, 1;
    bra.uni B;
A:  mov.u32 %r2, 2;
B:  t: .branchtargets A, C, D, C;
    brx.idx %r2, t;
C:  mov.u32 %r3, 1;
D:  mov.u32 %r3, 2;
    @%p1 ret;
    mov.u32 %r3, 3;
}
)" + kernel("@%p1 bra L; call f, (1); L: mov.u32 %r1, 0;"));
    const Function& f = p->functions[1];
    const auto at = [&](uint32_t k) { return p->instructions[f.begin + k]; };
    CHECK(p->instructions[0].reconvergence == 2);
    CHECK(at(2).target == f.begin + 5);
    CHECK(at(2).reconvergence == f.begin + 6);
    CHECK(at(6).kind == Kind::branch_table);
    CHECK(at(6).reconvergence == f.begin + 8);
    const auto* list = p->lists.data() + at(6).list;
    CHECK(std::vector<int32_t>(list, list + 5) ==
          std::vector<int32_t>{4, static_cast<int32_t>(f.begin) + 5, static_cast<int32_t>(f.begin) + 7,
                               static_cast<int32_t>(f.begin) + 8, static_cast<int32_t>(f.begin) + 7});
    CHECK(p->instructions[f.end - 1].kind == Kind::return_);
    CHECK(at(9).kind == Kind::return_);
    CHECK(at(9).guard != no_operand);
}

TEST_CASE("registers and local memory add up along chains of calls; a round of recursion counts once") {
    std::string wide = ".func (.reg .u32 %o) wide(.reg .u32 %i) { .reg .b32 %r<20>; .local .b8 room[100];\n";
    for (int k = 0; k < 16; ++k) wide += "add.u32 %r" + std::to_string(k) + ", %i, " + std::to_string(k) + ";\n";
    wide += "mov.u32 %o, 0;\n";
    for (int k = 0; k < 16; ++k) wide += "mad.lo.u32 %o, %o, 3, %r" + std::to_string(k) + ";\n";
    wide += "ret; }\n";
    std::string keeps;
    for (int k = 0; k < 10; ++k) keeps += "mov.u32 %r" + std::to_string(k) + ", %tid.x;\n";
    std::string uses;
    for (int k = 0; k < 10; ++k) uses += "add.u32 %r20, %r20, %r" + std::to_string(k) + ";\n";
    const auto alone = program(wide + kernel("mov.u32 %r20, 0; call (%r20), wide, (%r20);"));
    const auto more =
        program(wide + kernel(".local .b8 mine[50];" + keeps + "mov.u32 %r20, 0; call (%r20), wide, (%r20);" + uses));
    CHECK(alone->functions[1].registers >= 16);
    CHECK(alone->registers_per_thread == alone->functions[1].registers);
    CHECK(more->registers_per_thread == alone->registers_per_thread + 10);
    CHECK(more->functions[0].registers < more->registers_per_thread);
    CHECK(alone->local_bytes == 112);
    CHECK(more->local_bytes == 64 + 112);
    const auto rounds = program(".func f(.param .b32 x) { .local .b8 l[32]; { .param .b32 a; call f, (a); } ret; }\n" +
                                kernel("call f, (1);"));
    CHECK(rounds->local_bytes == 48);
}

TEST_CASE("functions whose address is taken come along when a call goes through a register, whatever is wrong with them") {
    const std::string two =
        ".func a(.param .b32 x) { ret; }\n.func b() { call far; ret; }\n.extern .func far();\n"
        ".global .u64 table[2] = {a, b};\n.func c() { frobnicate; }\n";
    const auto without = program(two + kernel("mov.u64 %rd1, table;"));
    CHECK(without->functions.size() == 1);
    const auto with = program(two + kernel("p: .callprototype _ (.param .b32 _); call %rd1, (1), p;"));
    REQUIRE(with->functions.size() == 3);
    CHECK(with->functions[1].problem.empty());
    CHECK(with->functions[2].problem == "'far' is declared here, but its code is elsewhere (line 5 of the PTX)");
    uint64_t address = 0;
    std::memcpy(&address, with->variables[0].initial.data() + 8, 8);
    CHECK(address == function_window + 2 * function_bytes);
    CHECK(with->calls[0].function == -1);
    CHECK(with->calls[0].arguments[0].bytes == 4);
}

TEST_CASE("addresses of variables among initial values wait for the launch") {
    const auto p = program(
        ".global .u32 x[4];\n.global .align 8 .u64 p[3] = {x+8, generic(x), 5};\n"
        ".global .align 8 .b8 q[2] = {0xFF(x), 0xFF00(generic(x)+4)};\n" +
        kernel(""));
    const auto& addresses = p->variables[1].addresses;
    REQUIRE(addresses.size() == 2);
    CHECK(addresses[0].at == 0);
    CHECK(addresses[0].variable == 0);
    CHECK(addresses[0].addend == 8);
    CHECK(addresses[1].at == 8);
    CHECK(p->variables[2].addresses[1].shift == 8);
    CHECK(p->variables[2].addresses[1].bytes == 1);
    CHECK(p->variables[2].addresses[1].at == 1);
    CHECK(complaint(".global .u64 p = nobody;\n" + kernel("")) == "unknown name 'nobody'");
    CHECK(complaint(".global .u32 p = nobody;\n" + kernel("")) == "an address needs a variable of 64 bits");
    CHECK(complaint(".global .b8 p = 0x0FF0(x);\n" + kernel("")).find("takes whole bytes") != std::string::npos);
}

TEST_CASE("what a call gets wrong is said") {
    CHECK(complaint(twice + kernel("call (%r1), twice, (1, 2);")) == "this passes 2 arguments, but the function takes 1");
    CHECK(complaint(twice + kernel("call twice, (1);")) == "this takes 0 results, but the function gives 1");
    CHECK(complaint(twice + kernel("{ .param .b64 a; call (%r1), twice, (a); }")) ==
          "this has 8 bytes where the function has 4 bytes");
    CHECK(complaint(twice + kernel("call (%r1), twice, (%rd1);")).find("'%rd1' is a register of .b64") == 0);
    CHECK(complaint(twice + kernel("call (%r1), twise, (1);")) == "unknown name 'twise', did you mean 'twice'?");
    CHECK(complaint(kernel("call %rd1, (1);")).find("a call through a register needs a prototype") == 0);
    CHECK(complaint(kernel("call %rd1, (1), p;")) == "no prototype or list of targets 'p' in sight");
    CHECK(complaint(kernel("p: .callprototype _ (.param .b32 _); call %r1, (1), p;")) ==
          "'%r1' is a register of .b32, an address needs .b64");
    CHECK(complaint(kernel("brx.idx %r1, t;")) == "no list of targets (.branchtargets) 't' in sight");
    CHECK(complaint(kernel("t: .branchtargets A, B; brx.idx %r1, t; A:")) == "no label 'B' in sight, did you mean 'A'?");
    CHECK(complaint(kernel(".branchtargets A;")) == "expected a label in front of '.branchtargets'");
    CHECK(complaint(".func f(.b32 x) { ret; }\n" + kernel("")) == "expected .param or .reg, found '.b32'");
    CHECK(complaint(twice + kernel("mov.u32 %r1, twice;")) == "the address of a function needs 64 bits");
}

}  // namespace ptx_call_test
