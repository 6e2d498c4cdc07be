// Several modules linked into one: what they share, what each keeps, and what does not fit.
#include "core/ptx/link/link.h"

#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace link_test {
namespace {

using namespace lockstep;

ptx::Module part(const std::string& file, const std::string& body,
                 const std::string& head = ".version 7.0\n.target sm_70\n") {
    Result<ptx::Module> module = ptx::parse(head + ".address_size 64\n" + body, file);
    INFO(body);
    REQUIRE(module);
    return std::move(module).value();
}

ptx::Linked linked(const std::vector<ptx::Module>& parts) {
    Result<ptx::Linked> whole = ptx::link(parts, "whole");
    if (!whole) FAIL(render(whole.error()));
    return std::move(whole).value();
}

std::string problem_of(const std::vector<ptx::Module>& parts) {
    const Result<ptx::Linked> whole = ptx::link(parts, "whole");
    return whole ? "" : whole.error().message;
}

const char* const caller = R"(
.extern .func (.param .b32 r) _Z5twicei (.param .b32 x);
.extern .global .align 4 .u32 counter;
.global .align 4 .u32 own = 1;
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 5; call.uni (b), _Z5twicei, (a); ld.param.b32 %r1, [b]; }
  ld.global.u32 %r2, [counter];
  ld.global.u32 %r3, [own];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
const char* const callee = R"(
.visible .global .align 4 .u32 counter = 7;
.global .align 4 .u32 own = 2;
.global .align 8 .u64 place = own;
.visible .func (.param .b32 r) _Z5twicei (.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x];
  ld.global.u32 %r2, [own];
  st.param.b32 [r], %r2;
  ret;
}
)";

const ptx::Variable& variable(const ptx::Module& module, const std::string& name) {
    for (const ptx::Variable& v : module.variables)
        if (v.name == name) return v;
    FAIL("no variable " << name);
    return module.variables.front();
}

TEST_CASE("a function and a variable of another file are found, and each file keeps its own") {
    const ptx::Linked whole = linked({part("a.cu", caller), part("b.cu", callee, ".version 6.4\n.target sm_80\n")});
    CHECK(whole.module.target == "sm_80");
    CHECK(whole.module.version == "7.0");
    REQUIRE(whole.module.functions.size() == 1);
    CHECK(whole.module.functions[0].defined);
    CHECK(whole.module.variables.size() == 4);
    CHECK(whole.name_in(0, "own") == "own");
    const std::string other = whole.name_in(1, "own");
    CHECK(other != "own");
    CHECK(variable(whole.module, "own").initial[0] == std::byte{1});
    CHECK(variable(whole.module, other).initial[0] == std::byte{2});
    CHECK(variable(whole.module, "place").references.at(0).name == other);
    CHECK(whole.module.functions[0].statements[1].operands[1].name == other);
    const auto program = ptx::decode(whole.module, "k");
    REQUIRE(program);
    CHECK(program.value()->functions.size() == 2);
}

TEST_CASE("a function's own declaration hides a name that is changed elsewhere") {
    const std::string hides =
        ".global .u32 x = 3;\n.visible .entry other() { .reg .b32 %r<2>; .local .u32 x; ld.local.u32 %r1, [x]; ret; }";
    const ptx::Linked whole = linked({part("a.cu", ".global .u32 x = 1;"), part("b.cu", hides)});
    CHECK(whole.module.entries.at(0).statements.at(0).operands.at(1).name == "x");
}

TEST_CASE("of weak definitions one is kept, a strong one before all") {
    const std::string weak = ".weak .func f () { ret; }\n.weak .global .u32 w = 1;\n.weak .entry t() { ret; }";
    const ptx::Linked whole = linked({part("a.cu", weak), part("b.cu", weak), part("c.cu", ".visible .global .u32 w = 9;")});
    CHECK(whole.module.functions.size() == 1);
    CHECK(whole.module.entries.size() == 1);
    REQUIRE(whole.module.variables.size() == 1);
    CHECK(whole.module.variables[0].initial[0] == std::byte{9});
}

TEST_CASE("shared memory that the launch sizes is one, with the largest alignment") {
    const ptx::Linked whole =
        linked({part("a.cu", ".extern .shared .align 4 .b8 s[];"), part("b.cu", ".extern .shared .align 16 .b8 s[];")});
    REQUIRE(whole.module.variables.size() == 1);
    CHECK(whole.module.variables[0].align == 16);
}

TEST_CASE("lines keep their files") {
    const std::string at = " { .loc 1 5 1\n ret; }\n.file 1 \"";
    const ptx::Linked whole =
        linked({part("a.cu", ".visible .entry a()" + at + "a.cu\""), part("b.cu", ".visible .entry b()" + at + "b.cu\"")});
    REQUIRE(whole.module.entries.size() == 2);
    CHECK(whole.module.files.at(static_cast<size_t>(whole.module.entries[0].locations.at(0).file)) == "a.cu");
    CHECK(whole.module.files.at(static_cast<size_t>(whole.module.entries[1].locations.at(0).file)) == "b.cu");
}

TEST_CASE("clang's names of statics that the host knows are taken as the source has them") {
    for (const std::string hash : {"9b5f8495fbf2fb7d", "5f8495fbf2fb7d"}) {  // written without leading zeros
        const std::string mixed = R"(
.extern .const .align 4 .b8 _ZL5scale[8];
.visible .const .align 4 .b8 _ZL5scale__static__)" +
                                  hash + R"([8] = {1, 0, 0, 0, 2, 0, 0, 0};
.weak .entry _ZL1kv__intern__)" + hash +
                                  R"(() { .reg .b32 %r<2>; ld.const.u32 %r1, [_ZL5scale]; ret; }
)";
        const ptx::Linked whole = linked({part("a.cu", mixed), part("b.cu", mixed)});
        CHECK(whole.module.variables.size() == 2);
        CHECK(whole.module.entries.size() == 2);
        CHECK(whole.name_in(0, "_ZL1kv__intern__" + hash) == "_ZL1kv");
        const std::string second = whole.name_in(1, "_ZL5scale");
        CHECK(second != "_ZL5scale");
        CHECK(whole.module.entries.at(1).statements.at(0).operands.at(1).name == second);
    }
}

TEST_CASE("what two files define, or none does, is told with the files' names") {
    CHECK(problem_of({part("a.cu", callee), part("b.cu", callee)}) == "'counter' is defined in a.cu and again in b.cu");
    CHECK(problem_of({part("a.cu", caller), part("b.cu", ".visible .global .align 4 .u32 counter;")}) ==
          "a.cu calls 'twice', which is declared there and defined in none of the files");
    CHECK(problem_of({part("a.cu", ".extern .global .u32 lost;")}) ==
          "a.cu uses the variable 'lost', which is declared there and defined in none of the files");
    CHECK(problem_of({part("a.cu", ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);")}).empty());
}

}  // namespace
}  // namespace link_test
