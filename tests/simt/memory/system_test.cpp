// What a kernel asks of the system: printf against the C library's own, malloc and free with their faults, asserts.
#include <cmath>
#include <cstdio>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_system_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

std::string bytes_of(const std::string& text) {
    std::string list;
    for (const char c : text) list += std::to_string(static_cast<unsigned char>(c)) + ", ";
    return "{" + list + "0}";
}

// A call of vprintf whose arguments stand at %SPL-like local memory, as nvcc lays them out.
struct Print {
    std::string format;
    std::vector<std::byte> arguments;
    std::string strings;  // further module variables

    template <class T>
    Print& operator<<(T value) {
        arguments.resize((arguments.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        arguments.insert(arguments.end(), raw, raw + sizeof(T));
        return *this;
    }
};

const std::string externs =
    ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);\n"
    ".extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);\n"
    ".extern .func free (.param .b64 free_param_0);\n"
    ".extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, .param .b64 p4);\n";

std::string kernel(const std::string& module, const std::string& body) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n" + externs + module +
           ".visible .entry k(.param .u64 k_0) {\n.local .align 8 .b8 buffer[512];\n"
           ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\nld.param.u64 %rd0, [k_0];\nmov.u32 %r0, %tid.x;\n"
           "mul.wide.u32 %rd1, %r0, 8;\nadd.s64 %rd1, %rd0, %rd1;\n" +
           body + "\nret;\n}\n";
}

struct Outcome {
    std::string printed;
    std::optional<Fault> fault;
    std::vector<uint64_t> words;
    size_t calls = 0;
};

Outcome run_kernel(const std::string& text, Memory& memory, uint32_t threads = 1, uint32_t words = 32) {
    const auto module = ptx::parse(text, "test.ptx");
    INFO(text);
    INFO((module ? std::string() : render(module.error())));
    REQUIRE(module);
    const auto program = ptx::decode(module.value(), "k");
    INFO((program ? std::string() : render(program.error())));
    REQUIRE(program);
    const uint64_t out = memory.allocate(words * 8, "out");
    Outcome outcome;
    LaunchOptions options;
    options.print = [&](std::string_view words_printed) {
        outcome.printed += words_printed;
        ++outcome.calls;
    };
    LaunchResult result = launch(*program.value(), config_of({1}, {threads}, {out}), memory, options);
    outcome.fault = std::move(result.fault);
    outcome.words = read_back<uint64_t>(memory, out, words);
    return outcome;
}

const std::string call_printf =
    "{ .param .b64 a; .param .b64 b; .param .b32 c;\nst.param.b64 [a], %rd5;\nst.param.b64 [b], %rd6;\n"
    "call.uni (c), vprintf, (a, b);\nld.param.b32 %r5, [c]; }\ncvt.u64.u32 %rd7, %r5;\nst.global.u64 [%rd1], %rd7;\n";

Outcome print(const Print& p) {
    std::string body;
    for (size_t i = 0; i < p.arguments.size(); ++i)
        body +=
            "st.local.u8 [buffer+" + std::to_string(i) + "], " + std::to_string(static_cast<int>(p.arguments[i])) + ";\n";
    body = ".reg .b16 %rs<3>;\n" + body +
           "mov.u64 %rd6, buffer;\ncvta.local.u64 %rd6, %rd6;\nmov.u64 %rd5, format;\ncvta.global.u64 %rd5, %rd5;\n" +
           call_printf;
    Memory memory;
    return run_kernel(kernel(".global .align 1 .b8 format[" + std::to_string(p.format.size() + 1) +
                                 "] = " + bytes_of(p.format) + ";\n" + p.strings,
                             body),
                      memory);
}

template <class... T>
std::string c_printf(const char* format, T... values) {
    char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    std::snprintf(text, sizeof text, format, values...);
#pragma GCC diagnostic pop
    return text;
}

template <class... T>
void same_as_c(const char* format, T... values) {
    Print p{format, {}, {}};
    ((p << values), ...);
    const Outcome outcome = print(p);
    INFO(format);
    REQUIRE(!outcome.fault);
    CHECK(outcome.printed == c_printf(format, values...));
    CHECK(outcome.words[0] == sizeof...(T));
}

}  // namespace

TEST_CASE("printf shows integers, floats, letters and pointers as the C library does") {
    same_as_c("plain text\n");
    same_as_c("%d %i|%5d|%-5d|%05d|%+d|% d\n", -7, 2147483647, 42, 42, 42, 42, 42);
    same_as_c("%u %x %X %o %#x %#o\n", 4294967295u, 48879u, 48879u, 8u, 255u, 8u);
    same_as_c("%ld %lld %lu %llx|%20lld\n", -1l, -9007199254740993ll, 1ul, 0x123456789abcdefull, 7ll);
    same_as_c("%hd %hhd %hu %hhu\n", 70000, 300, 70000, 300);
    same_as_c("%f %.3f %10.2f %-10.2f| %e %.0f %#.0f\n", 3.14159, 2.71828, 1.5, 1.5, 12345.678, 2.5, 2.0);
    same_as_c("%g %G %a %E\n", 1e-10, 1e20, 0.1, 6.02e23);
    same_as_c("%f %f %f\n", HUGE_VAL, -HUGE_VAL, 0.0 * HUGE_VAL);
    same_as_c("%c%c%5c%-3c|\n", int{'o'}, int{'k'}, int{'x'}, int{'y'});
    same_as_c("%*d %-*d|\n", 6, 42, 6, 42);
    same_as_c("%*d|\n", -6, 42);
    Print odd{"%zu %td %jd %.*f|%d\n", {}, {}};  // which the device does not know: measured on an H200 with CUDA 13.0
    odd << 7;
    CHECK(print(odd).printed == "%zu %td %jd %.*f|7\n");
    same_as_c("100%% %d %%d\n", 1);
    same_as_c("%d %f %d %lld %d\n", 1, 2.0, 3, 4ll, 5);  // arguments of 8 bytes are aligned
    CHECK(print(Print{"%p %p|%8p", {}, {}} << uint64_t{0x7f00deadbeef} << uint64_t{0} << uint64_t{1}).printed ==
          "0x7f00deadbeef (nil)|     0x1");
    CHECK(print(Print{"%y %d %", {}, {}} << 3).printed == "%y 3 %");
    CHECK(print(Print{std::string(200, 'x') + "%500d\n", {}, {}} << 9).printed ==
          std::string(200, 'x') + std::string(499, ' ') + "9\n");
}

TEST_CASE("printf shows strings of global and constant memory") {
    Memory memory;
    const std::string module = ".global .align 1 .b8 format[] = " + bytes_of("[%s] [%6s] [%-6s] [%.2s] [%s]\n") +
                               ";\n.const .align 1 .b8 word[] = " + bytes_of("abc") + ";\n";
    std::string body = "mov.u64 %rd5, format;\nmov.u64 %rd7, word;\ncvta.const.u64 %rd7, %rd7;\nmov.u64 %rd8, 0;\n";
    for (int k = 0; k < 4; ++k) body += "st.local.u64 [buffer+" + std::to_string(8 * k) + "], %rd7;\n";
    body += "st.local.u64 [buffer+32], %rd8;\nmov.u64 %rd6, buffer;\ncvta.local.u64 %rd6, %rd6;\n" + call_printf;
    const Outcome outcome = run_kernel(kernel(module, body), memory);
    REQUIRE(!outcome.fault);
    CHECK(outcome.printed == "[abc] [   abc] [abc   ] [ab] [(null)]\n");
    CHECK(outcome.words[0] == 5);
}

TEST_CASE("each lane prints once, in the order of the lanes, and only lanes that take part") {
    Memory memory;
    const std::string body =
        "setp.eq.u32 %p1, %r0, 2;\n@%p1 bra L;\nst.local.u32 [buffer], %r0;\nmov.u64 %rd6, buffer;\ncvta.local.u64 %rd6, "
        "%rd6;\n"
        "mov.u64 %rd5, format;\n" +
        call_printf + "L:\n";
    const Outcome outcome =
        run_kernel(kernel(".global .align 1 .b8 format[] = " + bytes_of("<%d>") + ";\n", body), memory, 5);
    REQUIRE(!outcome.fault);
    CHECK(outcome.printed == "<0><1><3><4>");
    CHECK(outcome.calls == 4);
    CHECK(outcome.words[2] == 0);
}

TEST_CASE("printf says what it cannot read, and stops after a mebibyte") {
    Memory memory;
    const std::string format = ".global .align 1 .b8 format[3] = {37, 115, 0};\n.global .align 1 .b8 open[2] = {65, 66};\n";
    const std::string begin = "mov.u64 %rd6, buffer;\ncvta.local.u64 %rd6, %rd6;\n";
    const auto fault = [&](const std::string& body) {
        const Outcome outcome = run_kernel(kernel(format, begin + body + call_printf), memory);
        return outcome.fault ? outcome.fault->message : "none";
    };
    CHECK(fault("mov.u64 %rd5, open;\n") ==
          "invalid global read of 1 byte that reaches 1 byte past the end of 'open' (2 bytes)");
    CHECK(fault("mov.u64 %rd5, 64;\n") == "invalid global read of 1 byte, 64 bytes from a null pointer");
    CHECK(fault("mov.u64 %rd5, format;\nmov.u64 %rd7, open;\nst.local.u64 [buffer], %rd7;\n") ==
          "invalid global read of 1 byte that reaches 1 byte past the end of 'open' (2 bytes)");
    CHECK(fault("mov.u64 %rd5, format;\nmov.u64 %rd6, 0;\n") == "printf cannot read argument 1 that its format asks for");
    CHECK(fault("mov.u64 %rd5, 0;\n") == "none");
    std::string many;
    for (int i = 0; i < 33; ++i) many += "%d";
    Print p{many, {}, {}};
    for (int i = 0; i < 33; ++i) p << i;
    const Outcome too_many = print(p);
    REQUIRE(too_many.fault);
    CHECK(too_many.fault->message == "printf takes at most 32 arguments besides its format");
    // 300 threads times 4096 letters
    const Outcome loud = run_kernel(kernel(".global .align 1 .b8 format[] = " + bytes_of("%4096d") + ";\n",
                                           begin + "mov.u64 %rd5, format;\n" + call_printf),
                                    memory, 300, 300);
    REQUIRE(!loud.fault);
    CHECK(loud.printed.size() < (1u << 20) + 200);
    CHECK(loud.printed.ends_with("\n(the kernel prints more than 1 MiB: the rest is not shown)\n"));
}

namespace {
const std::string call_malloc =
    "{ .param .b64 a; .param .b64 b;\nst.param.b64 [a], %rd5;\ncall.uni (b), malloc, (a);\nld.param.b64 %rd6, [b]; }\n";
const std::string call_free = "{ .param .b64 a;\nst.param.b64 [a], %rd6;\ncall.uni free, (a); }\n";
}  // namespace

TEST_CASE("threads get blocks of the heap of their own and give them back") {
    Memory memory;
    const uint64_t before = memory.live_bytes();
    const Outcome outcome = run_kernel(
        kernel("", "mov.u64 %rd5, 24;\n" + call_malloc +
                       "st.u32 [%rd6], %r0;\nst.u32 [%rd6+20], %r0;\nld.u32 %r6, [%rd6+20];\ncvt.u64.u32 %rd7, %r6;\n"
                       "st.global.u64 [%rd1], %rd7;\n" +
                       call_free),
        memory, 32);
    REQUIRE(!outcome.fault);
    for (uint64_t lane = 0; lane < 32; ++lane) CHECK(outcome.words[lane] == lane);
    CHECK(memory.live_bytes() == before + 32 * 8);
}

TEST_CASE("malloc of nothing gives an address, of more than the heap has null; freeing null is nothing") {
    Memory memory;
    const std::string ask = call_malloc + "st.global.u64 [%rd1], %rd6;\n";
    CHECK(run_kernel(kernel("", "mov.u64 %rd5, 0;\n" + ask + call_free), memory).words[0] != 0);  // as on an H200
    CHECK(run_kernel(kernel("", "mov.u64 %rd5, 9000000;\n" + ask), memory).words[0] == 0);
    CHECK(run_kernel(kernel("", "mov.u64 %rd5, 0xffffffffffffffff;\n" + ask), memory).words[0] == 0);
    // 8 MiB hold seven blocks of a mebibyte with their headers; the eighth thread gets none.
    const Outcome outcome = run_kernel(kernel("", "mov.u64 %rd5, 1048576;\n" + ask), memory, 10);
    REQUIRE(!outcome.fault);
    for (size_t i = 0; i < 10; ++i) CHECK((outcome.words[i] != 0) == (i < 7));
}

TEST_CASE("blocks live on to the next launch, which may free them") {
    Memory memory;
    const Outcome first = run_kernel(
        kernel("", "mov.u64 %rd5, 16;\n" + call_malloc + "st.u64 [%rd6], 77;\nst.global.u64 [%rd1], %rd6;\n"), memory);
    REQUIRE(!first.fault);
    CHECK(find_leaks(memory).size() == 1);
    const Outcome second = run_kernel(kernel("", "mov.u64 %rd6, " + std::to_string(first.words[0]) +
                                                     ";\nld.u64 %rd7, [%rd6];\nst.global.u64 [%rd1], %rd7;\n" + call_free),
                                      memory);
    REQUIRE(!second.fault);
    CHECK(second.words[0] == 77);
    CHECK(find_leaks(memory).empty());
}

TEST_CASE("what nobody frees is listed by the malloc that gave it, as many bytes and blocks as are left") {
    Memory memory;
    // Odd threads free theirs; a second malloc of thread 0 is kept as well.
    const std::string body = "mov.u64 %rd5, 24;\n" + call_malloc +
                             "and.b32 %r7, %r0, 1;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra KEEP;\n" + call_free +
                             "KEEP:\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra END;\nmov.u64 %rd5, 1;\n" + call_malloc + "END:";
    REQUIRE(!run_kernel(kernel("", body), memory, 10).fault);
    const std::vector<Fault> leaks = find_leaks(memory);
    REQUIRE(leaks.size() == 2);
    CHECK(leaks[0].kind == "leakcheck");
    CHECK(leaks[0].message ==
          "leaked 120 bytes of the heap in 5 blocks: nobody has freed what this malloc gave, first to this thread");
    CHECK(leaks[0].thread == Dim3{0, 0, 0});
    CHECK(leaks[0].ptx_line < leaks[1].ptx_line);
    CHECK(leaks[1].message == "leaked 1 byte of the heap: nobody has freed what this malloc gave");
    CHECK(leaks[1].kernel == "k");
}

TEST_CASE("wrong frees and uses after free name the block and its thread") {
    const auto fault = [](const std::string& body, const std::string& module = "") {
        Memory memory;
        const Outcome outcome = run_kernel(kernel(module, "mov.u64 %rd5, 40;\n" + call_malloc + body), memory, 2);
        return outcome.fault ? outcome.fault->kind + ": " + outcome.fault->message : "none";
    };
    const std::string name = "'heap block of thread (0,0,0) in block (0,0,0)' (40 bytes)";
    CHECK(fault(call_free + call_free) == "memcheck: double free of " + name);
    CHECK(fault("add.s64 %rd6, %rd6, 8;\n" + call_free) == "memcheck: free of an address 8 bytes inside " + name);
    CHECK(fault("mov.u64 %rd6, %rd0;\n" + call_free) ==
          "memcheck: free of an address that malloc did not give, in 'out' (256 bytes)");
    CHECK(fault("mov.u64 %rd6, 12345;\n" + call_free) == "memcheck: free of an address that malloc did not give");
    CHECK(fault(call_free + "ld.u32 %r6, [%rd6+4];\n") ==
          "memcheck: invalid global read of 4 bytes in " + name + ", which was freed");
    CHECK(fault("st.u32 [%rd6+40], %r0;\n") ==
          "memcheck: invalid global write of 4 bytes that reaches 4 bytes past the end of " + name +
              ": element 10 of 10 elements");
}

TEST_CASE("a failed assert says its expression") {
    Memory memory;
    const std::string module = ".global .align 1 .b8 why[] = " + bytes_of("x > 0") + ";\n";
    const std::string body =
        "setp.ne.u32 %p1, %r0, 1;\n@%p1 bra L;\nmov.u64 %rd5, why;\n{ .param .b64 a; .param .b64 b; .param .b32 c; .param "
        ".b64 d; "
        ".param .b64 e;\nst.param.b64 [a], %rd5;\nst.param.b64 [b], %rd5;\nst.param.b32 [c], 7;\nst.param.b64 [d], %rd5;\n"
        "st.param.b64 [e], 1;\ncall.uni __assertfail, (a, b, c, d, e); }\nL:\n";
    const Outcome outcome = run_kernel(kernel(module, body), memory, 3);
    REQUIRE(outcome.fault);
    CHECK(outcome.fault->kind == "assert");
    CHECK(outcome.fault->message == "assertion `x > 0` failed");
    CHECK(outcome.fault->thread == Dim3{1, 0, 0});
}

}  // namespace simt_system_test
