// The printer against the parser: whatever the parser makes of a text, the printed module is parsed as the same.
#include <filesystem>

#include "core/base/files.h"
#include "tests/catch.h"
#include "tests/ptx/print_again.h"

namespace ptx_print_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {
Module parsed(const std::string& body) {
    return parse(".version 7.0\n.target sm_70\n.address_size 64\n" + body, "test.ptx").value();
}

std::string printed_statement(const std::string& text) {
    return print(parsed(".entry k() { " + text + "; }").entries.at(0).statements.at(0));
}
}  // namespace

TEST_CASE("every PTX file of the repository says the same after it is printed") {
    size_t files = 0, statements = 0;
    for (const char* folder : {"kernels", "lessons"})
        for (const auto& file :
             std::filesystem::recursive_directory_iterator(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / folder)) {
            if (file.path().extension() != ".ptx") continue;
            const auto module = parse(read_file(file.path()).value(), file.path().filename().string());
            INFO(file.path().string());
            REQUIRE(module);
            const std::string lost = lost_in_print(module.value());
            REQUIRE(lost.substr(0, 2000) == "");
            ++files;
            for (const Entry& entry : module.value().entries) statements += entry.statements.size();
        }
    CHECK(files > 150);
    CHECK(statements > 50'000);
}

TEST_CASE("statements are printed as they were written") {
    for (const std::string text :
         {"@!%p1 bra \t$L", "ld.global.v4.f32 \t{%f1, _, %f2, %f3}, [%rd1+-4]",
          "setp.lt.and.f32 \t%p1|%p2, %f1, 0f3F800000, !%p3", "mov.f64 \t%fd1, 0d7FF8000000000001",
          "mov.f32 \t%f1, 0fFFC00001", "mov.u64 \t%rd1, table+16", "ret", "vmad.s32.s32.s32.sat \t%r1, %r2.b0, -%r3.h1, %r4",
          "call.uni \t(a), called, (b, 7), P", "tex.2d.v4.f32.s32 \t{%f1, %f2, %f3, %f4}, [t, {%r1, %r2}]",
          "ld.const[4].u32 \t%r1, [4096]", "add.s64 \t%rd1, %rd2, -9223372036854775808"})
        CHECK(printed_statement(text) == text);
}

TEST_CASE("a negative offset is added, as ptxas has it, and '-' right behind a name is refused with what would be right") {
    CHECK(printed_statement("ld.global.f32 \t%f1, [%rd1+4-12]") == "ld.global.f32 \t%f1, [%rd1+-8]");
    for (const std::string text :
         {".entry k() { ld.global.f32 %f1, [%rd1-4]; }", ".entry k() { mov.u64 %rd1, table-4; }", ".global .u64 a = g-3;"}) {
        const auto module = parse(".version 8.0\n.target sm_75\n" + text, "minus.ptx");
        REQUIRE_FALSE(module);
        CHECK_THAT(module.error().message, Catch::Matchers::Contains("write '+-' instead of '-'"));
    }
}

TEST_CASE("scopes, variables, functions and attributes of a module are printed") {
    for (const std::string text :
         {".entry k() { .reg .b32 %a; { .reg .b32 %b; } .reg .b32 %c; ret; { } { { .local .f32 x; L: } } }",
          ".entry k() { { mov.u32 %r1, 0; { .shared .b32 s; } L: M: } bra L; N: }",
          ".entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24]) .maxntid 1048576, 3, 2 .minnctapersm 2 "
          ".pragma \"nounroll\"; { .pragma \"nounroll\"; bra L; L: ret; }",
          ".entry k() .reqntid 32, 2 .reqnctapercluster 2 .maxnreg 64 .maxclusterrank 8 .explicitcluster { trap; }",
          ".extern .shared .align 16 .b8 dynamic[]; .const .align 4 .f32 t[2][2] = {{1.0, -2.5}, {0f3F800000, 4.0}}; "
          ".global .v4 .f32 v = {1, 2, 3, 4}; .global .f64 d = -1; .global .s8 c[3] = {-1, 2}; .global .texref picture;",
          ".func (.param .align 8 .b8 out[16]) f(.param .b32 n, .reg .pred q); .global .u64 a[3] = {f, generic(g)+8, 0}; "
          ".global .b8 b[2] = {0xFF(f), 0xFF00(g+-3)}; .weak .func (.param .align 8 .b8 out[16]) f(.param .b32 n, .reg "
          ".pred "
          "q) "
          "{ ret; } .alias other, f;",
          ".entry k() { $T: .branchtargets A, B; brx.idx %r1, $T; A: { P: .callprototype (.param .b32 _) _ (.param .b32 _); "
          "C: .calltargets f, g; call (b), %rd4, (7), P; } B: .loc 1 2 3\n .loc 2 84 3, function_name L+6, inlined_at 1 43 "
          "3\n "
          "ret; .loc 1 9 9\n }",
          ".file 3 \"a.cu\"\n.file 1 \"b.h\"\n.extern .func g(); .visible .entry one() { ret; } .entry two() { exit; }"}) {
        const Module module = parsed(text);
        CHECK(lost_in_print(module) == "");
    }
    const Module one = parsed(".entry k() { bra L; L: ret; }"), other = parsed(".entry k() { L: bra L; ret; }");
    CHECK_FALSE(without_spacing(one) == without_spacing(other));
}

TEST_CASE("remarks are printed as comments, and a location comes again where its statements go on") {
    Module module = parsed(".visible .entry k(.param .u64 p) { .loc 1 1 0\n nop; .loc 1 2 0\n nop; nop; }");
    Entry& entry = module.entries.at(0);
    entry.parameters.at(0).remark = "weights";
    entry.locations.at(1).remark = "the second";
    entry.statements.at(2).location = 0;
    CHECK(print(module) == R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry k(
	.param .u64 p  // weights
)
{
	.loc 1 1 0
	nop;

	// the second
	.loc 1 2 0
	nop;
	.loc 1 1 0
	nop;
}

)");
}

}  // namespace ptx_print_test
