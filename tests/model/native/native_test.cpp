// Functional launches by native code against the interpreter: the same bits of memory, counts and words, on random programs,
// the bundled kernels, and every operation that has a translation. With one translation made wrong the same comparison says
// so.
#include "core/simt/native/native.h"

#include <cstring>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "core/simt/apart/apart.h"
#include "tests/catch.h"
#include "tests/model/native/native_programs.h"

namespace model_native_test {

using namespace lockstep;
using namespace lockstep::model::test;

namespace {

// A launch of `text` with one buffer of `words` words, its parameter.
std::string difference_of(const std::string& text, size_t words, simt::LaunchOptions options = {}, uint32_t blocks = 4,
                          uint32_t threads = 70) {
    const auto program = program_of(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" +
        text + "ret;\n}\n");
    const auto native = simt::make_native(*program, at_once);
    REQUIRE(native);
    simt::Memory memory;
    std::vector<uint32_t> numbers(words);
    Rng rng(3);
    for (uint32_t& number : numbers) number = static_cast<uint32_t>(rng.next());
    const uint64_t buffer = simt::test::put(memory, numbers, "buffer");
    const auto config = simt::test::config_of({blocks}, {threads}, {buffer});
    const std::string found = difference(*program, config, memory, {{buffer, words * 4}}, native, options);
    CHECK(native->made().translations > 0);
    return found;
}

// Every thread adds up to the words of its row, in a loop that its warp runs together or, with `divergent`, as long as its
// own lane asks.
std::string loop_text(const std::string& rounds, const std::string& body) {
    return R"(
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
)" + rounds +
           "LOOP:\n" + body + R"(
    add.s32 %r6, %r6, 1;
    setp.lt.s32 %p1, %r6, %r7;
    @%p1 bra LOOP;
    st.global.u32 [%rd3], %r5;
)";
}

// What the threads' operands are: numbers of memory, one by one or the same for all lanes of a warp; or ramps of them.
enum class Operands { by_lane, by_warp, ramps };

// Every operation, its results stored one after the other. i: 32 bits, l: 64 bits, p: a predicate.
struct Line {
    std::string name, types;  // "add.s32", "i=ii"
};
std::vector<Line> lines() {
    std::vector<Line> all = {
        {"add.s32", "i=ii"},       {"add.s64", "l=ll"},
        {"sub.u32", "i=ii"},       {"sub.u64", "l=ll"},
        {"mul.lo.s32", "i=ii"},    {"mul.lo.s64", "l=ll"},
        {"mul.hi.u32", "i=ii"},    {"mul.hi.s32", "i=ii"},
        {"mul.wide.u32", "l=ii"},  {"mul.wide.s32", "l=ii"},
        {"mad.lo.s32", "i=iii"},   {"mad.lo.s64", "l=lll"},
        {"mad.wide.u32", "l=iil"}, {"mad.wide.s32", "l=iil"},
        {"min.u32", "i=ii"},       {"min.s32", "i=ii"},
        {"max.u32", "i=ii"},       {"max.s32", "i=ii"},
        {"min.u64", "l=ll"},       {"min.s64", "l=ll"},
        {"max.u64", "l=ll"},       {"max.s64", "l=ll"},
        {"neg.s32", "i=i"},        {"neg.s64", "l=l"},
        {"and.b32", "i=ii"},       {"and.b64", "l=ll"},
        {"and.pred", "p=pp"},      {"or.b32", "i=ii"},
        {"or.b64", "l=ll"},        {"or.pred", "p=pp"},
        {"xor.b32", "i=ii"},       {"xor.b64", "l=ll"},
        {"xor.pred", "p=pp"},      {"not.b32", "i=i"},
        {"not.b64", "l=l"},        {"not.pred", "p=p"},
        {"shl.b32", "i=ii"},       {"shl.b64", "l=li"},
        {"shr.u32", "i=ii"},       {"shr.u64", "l=li"},
        {"shr.s32", "i=ii"},       {"shr.s64", "l=li"},
        {"mov.b32", "i=i"},        {"mov.b64", "l=l"},
        {"mov.pred", "p=p"},       {"cvta.to.global.u64", "l=l"},
        {"cvt.u32.s32", "i=i"},    {"cvt.s32.u32", "i=i"},
        {"cvt.u64.s64", "l=l"},    {"cvt.s64.u64", "l=l"},
        {"cvt.u64.u32", "l=i"},    {"cvt.s64.u32", "l=i"},
        {"cvt.u64.s32", "l=i"},    {"cvt.s64.s32", "l=i"},
        {"cvt.u32.u64", "i=l"},    {"cvt.s32.u64", "i=l"},
        {"cvt.u32.s64", "i=l"},    {"cvt.s32.s64", "i=l"},
        {"cvt.rn.f32.s32", "i=i"}, {"cvt.rn.f64.s32", "l=i"},
        {"selp.b32", "i=iip"},     {"selp.b64", "l=llp"},
        {"add.f32", "i=ii"},       {"sub.f32", "i=ii"},
        {"mul.f32", "i=ii"},       {"div.rn.f32", "i=ii"},
        {"fma.rn.f32", "i=iii"},   {"mad.rn.f32", "i=iii"},
        {"rcp.rn.f32", "i=i"},     {"sqrt.rn.f32", "i=i"},
        {"neg.f32", "i=i"},        {"abs.f32", "i=i"},
        {"min.f32", "i=ii"},       {"max.f32", "i=ii"},
        {"add.f64", "l=ll"},       {"sub.f64", "l=ll"},
        {"mul.f64", "l=ll"},       {"div.rn.f64", "l=ll"},
        {"fma.rn.f64", "l=lll"},   {"popc.b32", "i=i"},
        {"div.u32", "i=ii"},       {"div.s32", "i=ii"},
        {"rem.u32", "i=ii"},       {"rem.s32", "i=ii"},
    };
    for (const char* of : {"eq", "ne", "lt", "le", "gt", "ge"})
        for (const char* type : {"s32", "u32", "s64", "u64", "f32", "f64"})
            all.push_back({fmt::format("setp.{}.{}", of, type), type[1] == '3' ? "p=ii" : "p=ll"});
    for (const char* of : {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
        for (const char* type : {"f32", "f64"})
            all.push_back({fmt::format("setp.{}.{}", of, type), type[1] == '3' ? "p=ii" : "p=ll"});
    return all;
}

constexpr uint32_t op_threads = 128, op_blocks = 24;

std::string operations_text(Operands operands) {
    std::string body;
    uint64_t at = 0;
    for (const auto& [name, types] : lines()) {
        std::string list = fmt::format("%{}9", types[0]);
        int number = 1;
        for (const char type : types.substr(2)) list += fmt::format(", %{}{}", type, number++);
        body += fmt::format("    {} {};\n", name, list);
        if (types[0] == 'p') body += "    selp.b32 %i9, 1, 0, %p9;\n";
        body += types[0] == 'l' ? fmt::format("    st.global.b64 [%out+{}], %l9;\n", at)
                                : fmt::format("    st.global.b32 [%out+{}], %i9;\n", at);
        at += op_threads * op_blocks * 8;
    }
    const char* index = operands == Operands::by_lane ? "%n" : operands == Operands::by_warp ? "%w" : "%w";
    std::string load = fmt::format("    mul.wide.u32 %a, {}, 48;\n    add.s64 %a, %in, %a;\n", index);
    for (int k = 1; k <= 3; ++k) load += fmt::format("    ld.global.b64 %l{}, [%a+{}];\n", k, 16 * k - 16);
    for (int k = 1; k <= 3; ++k) load += fmt::format("    ld.global.b32 %i{}, [%a+{}];\n", k, 16 * k - 8);
    if (operands == Operands::ramps)
        load += R"(    cvt.u64.u32 %b, %t;
    shl.b64 %b, %b, 2;
    add.s64 %l1, %l1, %b;
    sub.s64 %l3, %l3, %b;
    shl.b32 %j, %t, 3;
    add.s32 %i1, %i1, %j;
    sub.s32 %i3, %i3, %j;
)";
    return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p_out, .param .u64 p_in)
{
    .reg .pred %p<10>;
    .reg .b32 %i<10>;
    .reg .b64 %l<10>;
    .reg .b32 %t, %c, %n, %w, %j;
    .reg .b64 %a, %b, %out, %in;
    ld.param.u64 %out, [p_out];
    ld.param.u64 %in, [p_in];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mad.lo.s32 %n, %c, )" +
           std::to_string(op_threads) + R"(, %t;
    shr.u32 %w, %n, 5;
    mul.wide.u32 %a, %n, 8;
    add.s64 %out, %out, %a;
    bar.sync 0;
)" + load + "    setp.lt.s32 %p1, %i1, %i2;\n    setp.lt.u64 %p2, %l1, %l2;\n    setp.ne.s32 %p3, %i2, %i3;\n" +
           body + "    ret;\n}\n";
}

// Operands for every thread: among others all kinds of floats, and of numbers at the ends of their ranges.
std::vector<uint64_t> numbers() {
    const uint32_t words[] = {0,          1,          2,          31,         32,         33,
                              63,         64,         0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
                              0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234,
                              0x7f812345, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4b800001};
    const uint64_t longs[] = {0,
                              1,
                              63,
                              0xffffffffull,
                              0x80000000ull,
                              0x7fffffffffffffffull,
                              0x8000000000000000ull,
                              ~0ull,
                              0x3ff0000000000000ull,
                              0xbff0000000000000ull,
                              0x7ff0000000000000ull,
                              0xfff0000000000000ull,
                              0x7ff8000000000123ull,
                              0xfff0000000000321ull,
                              0x000fffffffffffffull,
                              0x7fefffffffffffffull};
    Rng rng(7);
    std::vector<uint64_t> all(size_t{op_threads} * op_blocks * 6);
    for (size_t k = 0; k < all.size(); k += 2) {
        all[k] = rng.below(3) == 0 ? rng.next() : longs[rng.below(std::size(longs))];
        all[k + 1] = rng.below(3) == 0 ? rng.next() : words[rng.below(std::size(words))];
    }
    return all;
}

std::string difference_of_operations(Operands operands, const std::string& wrong = {}, uint64_t* translated = nullptr) {
    const auto program = program_of(operations_text(operands));
    const auto native = simt::make_native(*program, {.visits = 1, .keep_text = false, .wrong = wrong});
    REQUIRE(native);
    simt::Memory memory;
    const uint64_t in = simt::test::put(memory, numbers(), "in");
    const size_t bytes = lines().size() * op_threads * op_blocks * 8;
    const uint64_t out = memory.allocate(bytes, "out");
    const auto config = simt::test::config_of({op_blocks}, {op_threads}, {out, in});
    const std::string found = difference(*program, config, memory, {{out, bytes}}, native);
    if (translated) *translated = native->made().instructions;
    return found;
}

}  // namespace

TEST_CASE("every operation that has a translation gives the bits of its row, on lanes, numbers and ramps") {
    if (!simt::is_native_built()) return;
    for (const Operands operands : {Operands::by_lane, Operands::by_warp, Operands::ramps}) {
        uint64_t translated = 0;
        INFO("operands " << static_cast<int>(operands));
        CHECK(difference_of_operations(operands, "", &translated) == "");
        CHECK(translated > lines().size());
    }
}

TEST_CASE("a translation that is wrong is seen") {
    if (!simt::is_native_built()) return;
    for (const char* wrong : {"add(.u32|.s32)", "fma.rn.f32", "setp.lt.s32", "max.f32", "sub(.u64|.s64)", "shr.s32"}) {
        INFO(wrong);
        CHECK(difference_of_operations(Operands::by_lane, wrong) != "");
    }
}

TEST_CASE("a fault in a loop has the interpreter's words") {
    if (!simt::is_native_built()) return;
    const std::string body =
        "    ld.global.u32 %r8, [%rd3];\n    add.s32 %r5, %r5, %r8;\n    mul.lo.s32 %r9, %r8, 3;\n"
        "    add.s64 %rd3, %rd3, 512;\n";
    CHECK(difference_of(loop_text("    mov.u32 %r7, 900;\n", body), 4096) == "");
    const std::string shared =
        "    .shared .b8 room[512];\n    mov.u32 %r10, room;\n    shl.b32 %r11, %r1, 2;\n"
        "    add.s32 %r10, %r10, %r11;\n    mov.u32 %r7, 900;\n";
    CHECK(difference_of(loop_text(shared,
                                  "    st.shared.u32 [%r10], %r6;\n    ld.shared.u32 %r8, [%r10];\n"
                                  "    add.s32 %r5, %r5, %r8;\n    add.s32 %r10, %r10, 4;\n"),
                        4096) == "");
}

TEST_CASE("lanes that leave a loop one after the other keep what they had") {
    if (!simt::is_native_built()) return;
    const std::string rounds = "    and.b32 %r7, %r4, 15;\n    cvt.rn.f32.s32 %f1, %r4;\n";
    const std::string body =
        "    mad.lo.s32 %r5, %r5, 5, %r6;\n    fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;\n"
        "    mov.b32 %r8, %f1;\n    xor.b32 %r5, %r5, %r8;\n    setp.gt.s32 %p2, %r5, 7;\n"
        "    @%p2 add.s32 %r5, %r5, 11;\n";
    for (const uint32_t threads : {1u, 16u, 33u, 128u})
        CHECK(difference_of(loop_text(rounds, body), 4096, {}, 7, threads) == "");
}

TEST_CASE("a loop that never ends is found as the interpreter finds it, and one that is too long stops where it stops") {
    if (!simt::is_native_built()) return;
    CHECK(
        difference_of("    mov.u32 %r1, 3;\nLOOP:\n    add.s32 %r2, %r1, 4;\n    xor.b32 %r3, %r2, 7;\n    mov.u32 %r4, 1;\n"
                      "    bra LOOP;\n",
                      16) == "");
    simt::LaunchOptions options;
    options.max_instructions = 100'003;
    CHECK(difference_of(
              loop_text("    mov.u32 %r7, 1000000;\n", "    mad.lo.s32 %r5, %r5, 5, %r6;\n    xor.b32 %r5, %r5, %r1;\n"),
              4096, options) == "");
}

TEST_CASE("warps take turns by native code as they do without") {
    if (!simt::is_native_built()) return;
    const std::string body =
        "    atom.global.add.u32 %r8, [%rd1], 1;\n    xor.b32 %r5, %r5, %r8;\n"
        "    mad.lo.s32 %r5, %r5, 5, %r6;\n    shl.b32 %r9, %r5, 3;\n    add.s32 %r5, %r5, %r9;\n";
    for (const simt::WarpOrder order : {simt::WarpOrder::greedy, simt::WarpOrder::reverse, simt::WarpOrder::random}) {
        simt::LaunchOptions options;
        options.order = order;
        options.seed = 5;
        CHECK(difference_of(loop_text("    mov.u32 %r7, 400;\n", body), 4096, options) == "");
    }
}

TEST_CASE("blocks on two threads give the same bits by native code") {
    if (!simt::is_native_built()) return;
    constexpr uint32_t n = 256;
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/kernels/ptx/matmul.ptx";
    for (const char* kernel : {"matmul_nn_f32", "matmul_naive_f32"}) {
        const auto program = ptx::decode(ptx::parse(read_file(path).value(), path).value(), kernel).value();
        simt::LaunchConfig config{{n / 16, n / 16}, {16, 16}, 0, std::vector<std::byte>(program->parameter_bytes)};
        simt::Memory memory;
        std::vector<float> values(size_t{n} * n);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) * 0.01f;
        uint64_t address[3];
        for (int k = 0; k < 3; ++k) {
            address[k] = simt::test::put(memory, values, "matrix");
            std::memcpy(config.parameters.data() + program->parameters[static_cast<size_t>(k)].offset, &address[k], 8);
            std::memcpy(config.parameters.data() + program->parameters[static_cast<size_t>(k) + 3].offset, &n, 4);
        }
        simt::LaunchOptions options;
        options.native = false;
        simt::Memory plain = memory;
        const simt::LaunchResult expected = simt::launch(*program, config, plain, options);
        options.native = true;
        for (int round = 0; round < 3; ++round) {
            simt::Memory fast = memory;
            const simt::ApartResult got =
                simt::launch_apart(*program, *simt::apart_facts(*program), config, fast, options, 2);
            CHECK(got.threads == 2);
            CHECK(got.launch.native);
            CHECK(words_of(expected) == words_of(got.launch));
            CHECK(bytes_of(plain, {{address[2], values.size() * 4}}) == bytes_of(fast, {{address[2], values.size() * 4}}));
        }
    }
}

TEST_CASE("random programs give the same bits, counts and words by native code") {
    if (!simt::is_native_built()) return;
    check_programs(1, 25);
}

TEST_CASE("and 987 more of them", "[long]") {
    if (simt::is_native_built() && exhaustive()) check_programs(26, 987);
}

}  // namespace model_native_test
