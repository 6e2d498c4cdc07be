// Functions that are called: parameters, results, recursion, pointers, tables, what goes wrong. Kernels as PTX, by both ways
// of scheduling, against plain loops.
#include <map>
#include <random>

#include "core/simt/history/history.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_call_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// %rd1: where thread i's word of the array p0 is; %r1: its value. `store` writes %r2 there.
const std::string load_word = R"(
    ld.param.u64 %rd1, [p0];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r1, [%rd1];
)";
const std::string store_word = "\n    st.global.u32 [%rd1], %r2;\n";

struct Ran {
    std::vector<uint32_t> words;
    std::optional<Fault> fault;
};

// The kernel over the words, one a thread, in one block.
Ran run_words(const std::string& module, const std::string& body, std::vector<uint32_t> words, bool independent = true) {
    Memory memory;
    const uint64_t address = put(memory, words, "words");
    LaunchOptions options;
    options.independent = independent;
    options.max_instructions = 20'000'000;
    const auto threads = static_cast<uint32_t>(words.size());
    const LaunchResult result =
        run_text(text_kernel(load_word + body + store_word, 1, "", module), {1}, {threads}, {address}, memory, options);
    return {read_back<uint32_t>(memory, address, words.size()), result.fault};
}

std::vector<uint32_t> numbers(uint32_t count, uint32_t limit, uint32_t seed = 1) {
    std::mt19937 random(seed);
    std::vector<uint32_t> values(count);
    for (uint32_t& v : values) v = static_cast<uint32_t>(random() % limit);
    return values;
}

template <class Expected>
void check_words(const std::string& module, const std::string& body, const std::vector<uint32_t>& in, Expected expected) {
    for (const bool independent : {false, true}) {
        const Ran ran = run_words(module, body, in, independent);
        if (ran.fault) FAIL(render(*ran.fault));
        for (size_t i = 0; i < in.size(); ++i) {
            CAPTURE(i, in[i], independent);
            REQUIRE(ran.words[i] == expected(in[i]));
        }
    }
}

std::string call_with(const std::string& function, const std::string& argument = "%r1", const std::string& result = "%r2") {
    return "{ .param .b32 param0; st.param.b32 [param0+0], " + argument + "; .param .b32 retval0; call.uni (retval0), " +
           function + ", (param0); ld.param.b32 " + result + ", [retval0+0]; }\n";
}

const std::string factorial = R"(
.func (.param .b32 result) factorial(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<5>;
    ld.param.u32 %r1, [n];
    mov.u32 %r3, 1;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra DONE;
    sub.u32 %r2, %r1, 1;
    )" + call_with("factorial", "%r2", "%r4") +
                              R"(
    mul.lo.u32 %r3, %r1, %r4;
DONE:
    st.param.b32 [result], %r3;
    ret;
}
)";

}  // namespace

TEST_CASE("a function with registers for its parameter and its result is called") {
    const std::string function = R"(
.func (.reg .u32 %out) plus_five(.reg .u32 %in) {
    add.u32 %out, %in, 5;
    ret;
}
)";
    check_words(function, "call (%r2), plus_five, (%r1);", numbers(70, 1000), [](uint32_t x) { return x + 5; });
}

TEST_CASE("parameters and results pass through .param variables, registers and numbers alike") {
    const std::string functions = R"(
.visible .func (.param .b32 result) twice(.param .b32 x);
.visible .func (.param .b32 result) twice(.param .b32 x) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [result+0], %r2;
    ret;
}
.func (.reg .b64 %wide, .reg .u16 %low) split(.reg .u32 %x, .param .b16 y, .reg .pred %take) {
    .reg .b16 %h<2>;
    cvt.u64.u32 %wide, %x;
    ld.param.u16 %h1, [y];
    mov.u16 %low, 0;
    @%take mov.u16 %low, %h1;
}
)";
    check_words(functions, call_with("twice") + "call (%r3), twice, (%r2); call (%r2), twice, (7); add.u32 %r2, %r2, %r3;",
                numbers(40, 1000), [](uint32_t x) { return 4 * x + 14; });
    check_words(functions, R"(
        { .param .b16 half; .param .b64 wide;
          cvt.u16.u32 %h1, %r1; st.param.b16 [half], %h1;
          setp.gt.u32 %p1, %r1, 500;
          call (wide, %h2), split, (%r1, half, %p1);
          ld.param.u64 %rd3, [wide]; }
        cvt.u32.u64 %r3, %rd3; cvt.u32.u16 %r4, %h2; mad.lo.u32 %r2, %r3, 1000, %r4;)",
                numbers(40, 1000), [](uint32_t x) { return x * 1000 + (x > 500 ? x : 0); });
}

TEST_CASE("a structure passes by value, in vectors and pieces, and the callee changes only its copy") {
    const std::string function = R"(
.func (.param .align 16 .b8 result[24]) turn(.param .align 16 .b8 s[24]) {
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [s];
    ld.param.u64 %rd1, [s+16];
    mov.b64 %rd2, s;
    st.local.u32 [%rd2+4], 99;
    ld.local.u32 %r5, [%rd2+4];
    st.param.v2.b32 [result], {%r4, %r3};
    st.param.v2.b32 [result+8], {%r5, %r1};
    st.param.b64 [result+16], %rd1;
    ret;
}
)";
    check_words(function, R"(
        { .param .align 16 .b8 s[24]; .param .align 16 .b8 t[24];
          add.u32 %r3, %r1, 1; add.u32 %r4, %r1, 2; add.u32 %r5, %r1, 3; mov.u64 %rd3, 100000;
          st.param.v4.b32 [s], {%r1, %r3, %r4, %r5};
          st.param.b64 [s+16], %rd3;
          call (t), turn, (s);
          ld.param.v4.b32 {%r6, %r7, %r8, %r9}, [t];
          ld.param.b64 %rd4, [t+16];
          ld.param.b32 %r10, [s+4]; }
        cvt.u32.u64 %r2, %rd4;
        mad.lo.u32 %r2, %r6, 7, %r2; mad.lo.u32 %r2, %r7, 11, %r2; mad.lo.u32 %r2, %r8, 13, %r2;
        mad.lo.u32 %r2, %r9, 17, %r2; mad.lo.u32 %r2, %r10, 19, %r2;)",
                numbers(33, 1000),
                [](uint32_t x) { return 100000 + 7 * (x + 3) + 11 * (x + 2) + 13 * 99 + 17 * x + 19 * (x + 1); });
}

TEST_CASE("recursion returns at another depth in every lane") {
    check_words(factorial, call_with("factorial"), numbers(64, 13), [](uint32_t x) {
        uint32_t product = 1;
        for (uint32_t k = 2; k <= x; ++k) product *= k;
        return product;
    });
    const std::string fibonacci = R"(
.func (.param .b32 result) fibonacci(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<8>;
    ld.param.u32 %r1, [n];
    setp.gt.u32 %p1, %r1, 1;
    @%p1 bra MORE;
    st.param.b32 [result], %r1;
    ret;
MORE:
    sub.u32 %r2, %r1, 1;
    sub.u32 %r3, %r1, 2;
    )" + call_with("fibonacci", "%r2", "%r4") +
                                  call_with("fibonacci", "%r3", "%r5") + R"(
    add.u32 %r6, %r4, %r5;
    st.param.b32 [result], %r6;
    ret;
}
)";
    check_words(fibonacci, call_with("fibonacci"), numbers(40, 12), [](uint32_t x) {
        uint32_t a = 0, b = 1;
        for (uint32_t k = 0; k < x; ++k) std::swap(a, b), b += a;
        return a;
    });
}

TEST_CASE("functions that call one another, declared before they are defined") {
    const std::string functions = R"(
.func (.param .b32 result) odd(.param .b32 n);
.func (.param .b32 result) even(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<5>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r3, 1;
    @%p1 bra DONE;
    sub.u32 %r2, %r1, 1;
    )" + call_with("odd", "%r2", "%r3") +
                                  R"(
DONE:
    st.param.b32 [result], %r3;
    ret;
}
.func (.param .b32 result) odd(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<5>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r3, 0;
    @%p1 bra DONE;
    sub.u32 %r2, %r1, 1;
    )" + call_with("even", "%r2", "%r3") +
                                  R"(
DONE:
    st.param.b32 [result], %r3;
    ret;
}
)";
    check_words(functions, call_with("even"), numbers(50, 40), [](uint32_t x) { return x % 2 == 0 ? 1u : 0u; });
}

TEST_CASE("each call has local memory of its own, and pointers into that of its callers") {
    // sum(n, p): a local array of 4 words filled with n, *p += its sum, then sum(n - 1, p), then the array is looked at
    // again.
    const std::string function = R"(
.func sum(.param .b32 n, .param .b64 p) {
    .local .align 16 .b8 depot[16];
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, depot;
    cvta.local.u64 %rd3, %rd2;
    st.local.v2.u32 [depot], {%r1, %r1};
    st.u32 [%rd3+8], %r1;
    st.local.u32 [%rd2+12], %r1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 ret;
    sub.u32 %r2, %r1, 1;
    { .param .b32 a; .param .b64 b; st.param.b32 [a], %r2; st.param.b64 [b], %rd1; call sum, (a, b); }
    ld.local.v4.u32 {%r2, %r3, %r4, %r5}, [depot];
    add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;
    ld.u32 %r6, [%rd1];
    add.u32 %r6, %r6, %r2;
    st.u32 [%rd1], %r6;
    ret;
}
)";
    check_words(function, R"(
        .local .align 4 .b8 total[4];
        mov.u64 %rd3, total; cvta.local.u64 %rd4, %rd3;
        st.local.u32 [total], 0;
        { .param .b32 a; .param .b64 b; st.param.b32 [a], %r1; st.param.b64 [b], %rd4; call sum, (a, b); }
        ld.local.u32 %r2, [total];)",
                numbers(64, 30), [](uint32_t x) { return 2 * x * (x + 1); });
}

TEST_CASE("pointers to functions from moves and from initial values are called, other functions in other lanes") {
    std::string module = "\n";
    for (int k = 0; k < 4; ++k)
        module += ".func (.param .b32 result) f" + std::to_string(k) + R"((.param .b32 x) {
    .reg .b32 %r<3>; ld.param.u32 %r1, [x]; mad.lo.u32 %r2, %r1, )" +
                  std::to_string(k + 2) + ", " + std::to_string(k) + R"(; st.param.b32 [result], %r2; ret; }
)";
    module += ".global .align 8 .u64 table[4] = {f0, f1, 0, f3};\n.global .align 8 .u64 second = table+8;\n";
    module +=
        ".global .align 8 .b8 bytes[8] = {0xFF(f2), 0xFF00(f2), 0xFF0000(f2), 0xFF000000(f2), 0xFF00000000(f2), "
        "0xFF0000000000(f2), 0xFF000000000000(f2), 0xFF00000000000000(f2)};\n";
    const std::string body = R"(
        mov.u64 %rd3, table;
        and.b32 %r3, %r1, 3;
        mul.wide.u32 %rd4, %r3, 8;
        add.u64 %rd3, %rd3, %rd4;
        ld.global.u64 %rd5, [%rd3];
        setp.eq.u32 %p1, %r3, 2;
        @%p1 mov.u64 %rd5, f2;
        and.b32 %r4, %r1, 4;
        setp.eq.u32 %p2, %r4, 0;
        and.pred %p3, %p1, %p2;
        @%p3 ld.global.u64 %rd5, [bytes];
        setp.eq.u32 %p4, %r3, 1;
        ld.global.u64 %rd6, [second];
        @%p4 ld.global.u64 %rd5, [%rd6];
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
          prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
          call (b), %rd5, (a), prototype;
          ld.param.b32 %r2, [b]; })";
    const auto expected = [](uint32_t x) { return x * (x % 4 + 2) + x % 4; };
    check_words(module, body, numbers(64, 1000), expected);
    check_words(module, R"(
        mov.u64 %rd5, f1;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
          targets: .calltargets f0, f1;
          call (b), %rd5, (a), targets;
          ld.param.b32 %r2, [b]; })",
                numbers(32, 100), [](uint32_t x) { return 3 * x + 1; });
}

TEST_CASE("brx.idx goes where its table says, and all paths meet again") {
    const std::string body = R"(
        rem.u32 %r3, %r1, 5;
        mov.u32 %r2, 0;
        table: .branchtargets L0, L1, L2, L1, L4;
        brx.idx %r3, table;
    L0: add.u32 %r2, %r2, 1000; bra.uni OUT;
    L1: add.u32 %r2, %r2, 2000; bra.uni OUT;
    L2: add.u32 %r2, %r2, 3000;
    L4: add.u32 %r2, %r2, 4000;
    OUT:
        activemask.b32 %r4;
        popc.b32 %r4, %r4;
        add.u32 %r2, %r2, %r4;)";
    check_words("", body, numbers(64, 1000), [](uint32_t x) {
        const uint32_t of[] = {1000, 2000, 7000, 2000, 4000};
        return of[x % 5] + 32;
    });
    const std::string guarded = R"(
        setp.lt.u32 %p1, %r1, 2;
        mov.u32 %r2, 5;
        t: .branchtargets A, B;
        @%p1 brx.idx %r1, t;
        mov.u32 %r2, 6; bra OUT;
    A:  mov.u32 %r2, 7; bra OUT;
    B:  mov.u32 %r2, 8;
    OUT:)";
    check_words("", guarded, numbers(64, 4), [](uint32_t x) { return x == 0 ? 7u : x == 1 ? 8u : 6u; });
}

TEST_CASE("exit in a function ends the thread, ret the call") {
    const std::string function = R"(
.func leave(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    setp.gt.u32 %p1, %r1, 50;
    @%p1 exit;
}
)";
    check_words(function, "{ .param .b32 a; st.param.b32 [a], %r1; call leave, (a); } mov.u32 %r2, 1;", numbers(64, 100),
                [](uint32_t x) { return x > 50 ? x : 1; });
}

TEST_CASE("what a call cannot do is a fault with a sentence") {
    const auto message = [](const std::string& module, const std::string& body, uint32_t word = 1) {
        const Ran ran = run_words(module, body, std::vector<uint32_t>(32, word));
        REQUIRE(ran.fault);
        CHECK(ran.fault->ptx_line > 0);
        return ran.fault->kind + ": " + ran.fault->message;
    };
    const std::string through = R"({ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
          prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
          call (b), %rd5, (a), prototype;
          ld.param.b32 %r2, [b]; })";
    CHECK(message("", "mov.u64 %rd5, 0;" + through) == "call: a call through a null function pointer");
    CHECK(message("", "mov.u64 %rd5, 4660;" + through) == "call: a call of 0x1234, which is not the address of a function");
    CHECK(message(factorial, "mov.u64 %rd5, factorial; add.u64 %rd5, %rd5, 8;" + through)
              .find("which is not the address of a function") != std::string::npos);
    const std::string wide =
        ".func (.param .b64 r) wide(.param .b64 x) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [x]; "
        "st.param.b64 [r], %rd1; ret; }\n";
    CHECK(message(wide, "mov.u64 %rd5, wide;" + through).find("a call of 'wide' with 1 parameter and 1 result") !=
          std::string::npos);
    const std::string strange =
        ".func (.param .b32 r) strange(.param .b32 x) { .reg .b32 %r<2>; frobnicate.b32 %r1; ret; }\n";
    CHECK(message(strange, "mov.u64 %rd5, strange;" + through).find("which cannot run here: unknown instruction") !=
          std::string::npos);
    CHECK(message("", "t: .branchtargets A, B; brx.idx %r1, t; A: B:", 2) ==
          "branch: a jump by index 2 of a table with 2 targets");
    const std::string endless = R"(
.func (.param .b32 result) endless(.param .b32 n) {
    .reg .b32 %r<3>; .local .b8 room[1000];
    ld.param.u32 %r1, [n]; st.local.u32 [room], %r1;
    )" + call_with("endless", "%r1", "%r2") +
                                R"(
    st.param.b32 [result], %r2;
    ret;
}
)";
    const std::string overflow = message(endless, call_with("endless"));
    CHECK(overflow.find("stack overflow: 5") == 0);
    CHECK(overflow.find("calls deep in k on line") != std::string::npos);
}

TEST_CASE("a copy of a block in the middle of calls goes on by itself") {
    const auto program = text_program(text_kernel(load_word + call_with("factorial") + store_word, 1, "", factorial));
    const std::vector<uint32_t> in = numbers(64, 13);
    Memory memory;
    const uint64_t address = put(memory, in, "words");
    const LaunchConfig config = config_of({1}, {64}, {address});
    Grid grid = make_grid(*program, config, memory);
    Block block = make_block(grid, 0);
    uint64_t threads = 0;
    for (Warp& warp : block.warps) run(warp, 60, threads);
    REQUIRE(block.warps[0].stack.back().frame >= 0);
    Block copy = block;
    const Block moved = std::move(block);
    for (size_t w = 0; w < 2; ++w) {
        CHECK(copy.warps[w].registers != moved.warps[w].registers);
        const auto bytes = program->functions[1].register_bytes;
        CHECK(std::memcmp(copy.warps[w].registers, moved.warps[w].registers, bytes) == 0);
        while (!copy.warps[w].done) REQUIRE(run(copy.warps[w], 7, threads).kind != WarpEvent::Kind::fault);
    }
    const auto out = read_back<uint32_t>(memory, address, in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        uint32_t product = 1;
        for (uint32_t k = 2; k <= in[i]; ++k) product *= k;
        CHECK(out[i] == product);
    }
}

TEST_CASE("registers of the running function are those that a watch sees") {
    const auto program = text_program(text_kernel(load_word + call_with("factorial") + store_word, 1, "", factorial));
    Memory memory;
    const uint64_t address = put(memory, std::vector<uint32_t>(32, 3), "words");
    const LaunchConfig config = config_of({1}, {32}, {address});
    const WarpHistory history = record_warp(*program, config, memory, 0, 0);
    REQUIRE(!history.fault);
    size_t in_function = 0;
    for (size_t step = 0; step < history.steps.size(); ++step) {
        const uint32_t pc = history.steps[step].pc;
        const int32_t function = pc >= program->functions[1].begin ? 1 : 0;
        const auto values = registers_at(*program, config, memory, 0, 0, step);
        REQUIRE(!values.empty());
        for (const LaneValues& v : values) REQUIRE(v.reg.function == function);
        in_function += static_cast<size_t>(function);
    }
    CHECK(in_function > 10);
}

}  // namespace simt_call_test
