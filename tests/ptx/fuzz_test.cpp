// PTX from strangers: the bundled kernels and a text full of odd syntax, with bytes, words and lines changed, cut and
// doubled, must parse and decode to a program or to one clear sentence, and never crash; what parses says the same when it
// is printed. Seeded: the same run every time.
#include <filesystem>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/ptx/print_again.h"

namespace ptx_fuzz_test {

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

const char* const odd = R"(.version 7.0
.target sm_70, debug
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 dynamic[];
.const .align 4 .f32 table[2][2] = {{1.0, -2.5}, {0f3F800000, 4.0}};
.global .u64 g = 0x7fffffffffffffff;
.func (.param .align 8 .b8 out[16]) called(.param .b32 n, .reg .pred q);
.global .align 8 .u64 functions[3] = {called, generic(g)+8, 0};
.global .b8 pieces[2] = {0xFF(called), 0xFF00(g)};
.weak .func (.param .align 8 .b8 out[16]) called(.param .b32 n, .reg .pred q) .noreturn
{
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .local .align 4 .b8 l[12]; .shared .b32 s; ld.param.b32 %r1, [n]; mov.u64 %rd1, l;
  mov.u64 %rd2, n; ld.param.b32 %r2, [%rd2]; cvta.local.u64 %rd1, l; st.param.v2.b64 [out], {%rd1, %rd2};
  { .param .b32 a; .param .align 8 .b8 b[16]; st.param.b32 [a+0], %r1; call.uni (b), called, (a, %q1); ld.param.b64 %rd3, [b]; }
  .reg .pred %q<2>; @%q1 ret; $T: .branchtargets $A, $B, $A; brx.idx %r1, $T; $A: mov.u64 %rd4, called; $B:
  { .param .b32 a; .param .align 8 .b8 b[16]; P: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .reg .pred _);
    call (b), %rd4, (a, q), P; C: .calltargets called; call (b), %rd4, (7, q), C; }
}
.alias other, called;
.visible .entry add(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24]) .maxntid 256, 1, 1 .minnctapersm 2
{
  .local .align 8 .b8 depot[16];
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<5>; .reg .f64 %d<4>;
  .shared .align 4 .b8 tile[1088];
  .loc 1 3 5
  .loc 2 84 3, function_name $L__info+6, inlined_at 1 43 3
  mov.u64 %rd1, depot; mov.u64 %rd2, table; ld.const.f32 %f1, [table+4]; mov.u64 %rd3, g; cvta.shared.u64 %rd4, %rd1;
$L: @!%p1 bra $M; setp.lt.and.f32 %p1|%p2, %f1, 0f00000000, !%p3;
  { .reg .b32 t; .reg.pred q; mov.b32 t, {%h1, %h2}; mov.b64 {%r1, %r2}, %rd2; bfi.b32 t, %r1, %r2, 3, 4; }
  lop3.b32 %r1, %r2, %r3, %r4, 0x96; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, 0; cvt.u64.u16 %rd1, %r2; bar.sync 0;
  ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-4]; st.shared.v2.f32 [tile+8], {%f1, 0d3FF0000000000000};
  atom.global.cas.b32 %r1, [%rd1], %r2, %r3; red.shared.add.u32 [tile], 1; shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;
  vote.sync.ballot.b32 %r3, !%p1, -1; @%p2 ret; bar.red.popc.u32 %r1, 0, 64, !%p1; barrier.red.and.pred %p1, 0, %p2;
  match.any.sync.b32 %r1, %r2, -1; match.all.sync.b64 %r1|%p1, %rd1, %r2; redux.sync.max.s32 %r1, %r2, -1; bra.uni $L;
$M: .pragma "nounroll"; ld.param.u32 %r1, [s+20]; { .param .b32 a; .param .align 8 .b8 b[16];
  call (b), called, (a, %p1); } div.s32 %r1, %r2, %r3; cvt.rzi.s32.f64 %r1, %d1; trap;
}
.section .debug_str { $L__info: .b8 1, 2, 3 }
.file 1 "a.cu"
)";

std::string mutated(std::string text, Rng& rng) {
    static const std::string_view words[] = {
        "{",      "}",          "[",      "]",   ";",   ",",    ":",          "@",    "-",    "|",
        "<",      ">",          "(",      ")",   "%r1", ".reg", ".b32",       "0x",   "0f",   "99999999999999999999",
        ".v4",    ".param",     ".entry", "bra", "/*",  "\"",   "4294967295", ".u64", ".f64", "_",
        ".align", "2147483647", "-1",     "::",  "."};
    const uint64_t edits = 1 + rng.below(4);
    for (uint64_t e = 0; e < edits && !text.empty(); ++e) {
        const size_t at = rng.below(text.size()),
                     length = std::min<size_t>(rng.below(rng.below(8) ? 12 : 400), text.size() - at);
        switch (rng.below(6)) {
            case 0:
                text[at] = static_cast<char>(rng.below(256));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, words[rng.below(std::size(words))]);
                break;
            case 3:
                text.insert(at, text.substr(rng.below(text.size()), length));
                break;
            case 4:
                text.replace(at, length, words[rng.below(std::size(words))]);
                break;
            default:
                if (rng.below(4) == 0)
                    text.resize(at);
                else
                    text[at] = static_cast<char>(' ' + rng.below(95));
        }
    }
    return text;
}

size_t programs = 0, complaints = 0;

void try_all(const std::string& text) {
    const auto module = parse(text, "fuzz.ptx");
    if (!module) {
        CHECK(!module.error().message.empty());
        ++complaints;
        return;
    }
    const std::string lost = lost_in_print(module.value());
    INFO(lost.substr(0, 4000));
    REQUIRE(lost.empty());
    for (const std::string& name : entries(module.value())) {
        const auto program = decode(module.value(), name);
        ++(program ? programs : complaints);
        if (!program) continue;
        for (const auto& i : program.value()->instructions) {
            REQUIRE(i.opcode != nullptr);
            if (i.kind == Kind::branch) REQUIRE(i.target < program.value()->instructions.size());
            if (i.kind == Kind::call) REQUIRE(static_cast<size_t>(i.offset) < program.value()->calls.size());
            if (i.kind == Kind::lane_wise) REQUIRE(i.lanes != nullptr);
            if (i.kind == Kind::lane_wise_many) REQUIRE(i.many != nullptr);
        }
    }
}

}  // namespace

TEST_CASE("changed, cut and doubled PTX never crashes the front end") {
    std::vector<std::string> texts{odd};
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "kernels" / "ptx"))
        if (file.path().extension() == ".ptx") texts.push_back(read_file(file.path()).value());
    std::sort(texts.begin() + 1, texts.end());
    try_all(odd);
    CHECK(programs == 1);
    Rng rng(2024);
    const int rounds = sanitized      ? 1'500
                       : exhaustive() ? 15'000
                                      : 4'000;  // beside the fuzzers, which run for as long as one likes
    for (int round = 0; round < rounds; ++round) try_all(mutated(texts[round % 2 ? 0 : rng.below(texts.size())], rng));
    CHECK(programs > static_cast<size_t>(rounds / 150));
    CHECK(complaints > static_cast<size_t>(rounds / 15));
}

TEST_CASE("PTX made to be large ends in a sentence, not in exhausted memory") {
    const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(";
    std::string nested = head + ") {";
    for (int i = 0; i < 100'000; ++i) nested += "{";
    try_all(nested);
    std::string groups = head + ") { add.u32 ";
    for (int i = 0; i < 100'000; ++i) groups += "(";
    try_all(groups);
    try_all(head + ") { .reg .b32 %r<999999999>; add.u32 %r1, %r2, %r999999998; ret; }");
    try_all(head + ".param .b8 p[900000000]) { ret; }");
    try_all(head + ") { .shared .b8 s[1000000000][1000000000]; ret; }");
    try_all(".global .b8 g[1000000000];\n" + head + ") { ret; }");
    std::string branches = head + ") { .reg .pred p;";
    for (int i = 0; i < 20'000; ++i)
        branches += "L" + std::to_string(i) + ": @p bra L" + std::to_string((i * 7919) % 20'000) + ";";
    try_all(branches + "ret; }");
    std::string registers = head + ") { .reg .b64 %r<100000>;";
    for (int i = 0; i < 60'000; ++i) registers += "add.u64 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", 1;";
    try_all(registers + "}");
    std::string tables = head + ") { .reg .b32 r; T: .branchtargets L";
    for (int i = 0; i < 10'000; ++i) tables += ", L";
    tables += ";";
    for (int i = 0; i < 20'000; ++i) tables += "brx.idx r, T;";
    try_all(tables + "L: ret; }");
    std::string chain, calls = head + ") { .reg .b64 p; Q: .callprototype _;";
    for (int i = 0; i < 15'000; ++i) {
        const std::string next = std::to_string((i * 7919 + 1) % 15'000);
        chain += ".func f" + std::to_string(i) + "() { .reg .b64 p; Q: .callprototype _; mov.u64 p, f" + next +
                 "; call p, Q; call f" + next + "; ret; }";
        calls += "call f" + next + "; call p, Q;";
    }
    try_all(chain + calls + "ret; }");
    std::string variables;
    for (int i = 0; i < 20'000; ++i) variables += ".global .u32 g" + std::to_string(i) + ";";
    try_all(variables + head + ") { ret; }");
    CHECK(decode(parse(variables + head + ") { ret; }", "large.ptx").value()).error().message ==
          "a module has at most 16384 .global and .const variables");
    CHECK(parse(".global .b1 bits[4] = {1};", "bits.ptx").error().message == "expected a type such as .f32, found 'bits'");
    CHECK(parse(head + ") { .reg .s4 r; ret; }", "bits.ptx").error().message ==
          "expected a type such as .b32 after .reg, found '.s4'");
    const auto module = parse(registers + "}", "large.ptx");
    REQUIRE(module.ok());
    CHECK(decode(module.value()).error().message == "this kernel uses too many registers");
}

}  // namespace ptx_fuzz_test
