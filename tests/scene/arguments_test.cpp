// Arguments as a person writes them, and the expressions of lessons.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/arguments/kernel_source.h"
#include "core/scene/arguments/module_symbols.h"
#include "core/scene/figures/expression.h"
#include "core/simt/async/tensor_map.h"
#include "core/simt/warp.h"
#include "tests/catch.h"

namespace scene_arguments_test {

using namespace lockstep;
using namespace lockstep::scene;

namespace {

ptx::Program program_with(std::vector<uint32_t> sizes) {
    ptx::Program program;
    program.kernel = "_Z4axpyfPKfPf";
    for (const uint32_t bytes : sizes) {
        program.parameter_bytes = (program.parameter_bytes + bytes - 1) / bytes * bytes;
        program.parameters.push_back(
            {"p", bytes == 8 ? ptx::Type::b64 : ptx::Type::b32, program.parameter_bytes, bytes, bytes, false});
        program.parameter_bytes += bytes;
    }
    return program;
}

std::string error_of(const std::string& text) {
    const Result<KernelArgument> argument = parse_argument(text);
    return argument ? "no error" : argument.error().message + " @" + std::to_string(argument.error().where.column);
}

double value_of(const std::string& text) {
    return Expression::parse(text)
        .value()
        .evaluate([](const FigureName& name) -> Result<double> {
            if (name.text == "n") return 25.0;
            if (name.text == "cycles@line:7") return 100.0;
            if (name.text == "nothing") return std::nan("");
            return Diagnostic{"unknown " + name.text};
        })
        .value();
}

}  // namespace

TEST_CASE("the names of a kernel's parameters are read through the macros of its file") {
    using Names = std::vector<std::string>;
    const std::string source = R"(// #define SCALE(A) is no macro here
#define SCALE(NAME, TYPE) \
    __global__ void NAME(const TYPE *in, TYPE *out, /* of out */ int n) { \
        out[threadIdx.x] = in[threadIdx.x] * 2; \
    }
SCALE(scale_float, float)
SCALE(scale_int, int)
#define KERNEL(name) __global__ void __launch_bounds__(256) name
#define PAIR const float *left, const float *right
#define ARGUMENTS(last) PAIR, float *sum, int last
KERNEL(add)(ARGUMENTS(count)) { sum[0] = left[0] + right[0]; }
#define PASTE(a, b) a##_##b
#define JOIN(a, b) PASTE(a, b)
#define MINE my
__global__ void JOIN(MINE, copy)(const char *from = ",(", char *to = 0) {}
#undef MINE
#define ANY(name, ...) __global__ void name(__VA_ARGS__)
ANY(any, double x, double *y) {}
#define LOOP LOOP(
__global__ void plain(float (*rows)[4], float, int *, unsigned long long many[2], int n = 3) { LOOP }
template <typename T> __global__ void typed(T *x, T y) {}
template <> __global__ void typed<float>(float *x, float y) {}
__global__ void none(void) {}
)";
    CHECK(parameter_names(source, "scale_float") == Names{"in", "out", "n"});
    CHECK(parameter_names(source, "_Z9scale_intPKiPii") == Names{"in", "out", "n"});
    CHECK(parameter_declarations(source, "scale_int") == Names{"const int *in", "int *out", "int n"});
    CHECK(parameter_names(source, "add") == Names{"left", "right", "sum", "count"});
    CHECK(parameter_names(source, "my_copy") == Names{"from", "to"});
    CHECK(parameter_names(source, "any") == Names{"x", "y"});
    CHECK(parameter_names(source, "plain") == Names{"rows", "argument 2", "argument 3", "many", "n"});
    CHECK(parameter_names(source, "typed") == Names{"x", "y"});
    CHECK(parameter_names(source, "none").empty());
    CHECK(parameter_names(source, "from_a_header").empty());
    std::string doubling = "#define M0 M1 M1\n";  // 2^30 words, were there no bound
    for (int i = 1; i < 30; ++i) doubling += fmt::format("#define M{} M{} M{}\n", i, i + 1, i + 1);
    CHECK(without_macros(doubling + "M0\n").size() < (8 << 20));
    for (size_t cut = 0; cut < source.size(); ++cut) {  // any text at all
        const std::string part = source.substr(0, cut);
        CHECK(parameter_names(part, "nothing").empty());
    }
}

TEST_CASE("macros that call each other again and again end within bounds, and what an #if 0 leaves out is not there") {
    using Names = std::vector<std::string>;
    std::string four = "#define z0()\n";  // 4^30 expansions of nothing, were there no bound
    for (int i = 1; i <= 30; ++i) four += fmt::format("#define z{0}() z{1}()z{1}()z{1}()z{1}()\n", i, i - 1);
    four += "#define P float *x\n";
    const std::string kernel = "__global__ void by_warp(P) {}\n";
    CHECK(parameter_names(four + "#if 0\nz30()\n#endif\n" + kernel, "by_warp") == Names{"x"});
    // Beyond the bound words stay as they are.
    CHECK(parameter_declarations(four + kernel + "z30()\n", "by_warp") == Names{"float *x"});
    CHECK(parameter_declarations(four + "z30()\n" + kernel, "by_warp") == Names{"P"});
    const std::string left_out =
        "#define N int n\n#if 0\n#define N float *old\n#ifdef A\n#else\n__global__ void k(float *old, int n, int m);\n"
        "#endif\n#else\n__global__ void k(N) {}\n#endif\n";
    CHECK(parameter_declarations(left_out, "k") == Names{"int n"});
    // An argument that is read again and again, and calls within calls that never end.
    std::string again = "#define f(a) ", calls = "#define f(x) x\n";
    for (int i = 0; i < 5000; ++i) again += "a ", calls += "f(";
    std::string nothing = "#define E\nf(";
    for (int i = 0; i < 20000; ++i) nothing += "E ";
    CHECK(without_macros(again + "\n" + nothing + ")\n").size() < (8 << 20));
    CHECK(without_macros(calls).size() < (8 << 20));
    CHECK(without_macros(calls + std::string(5000, ')')).size() < (8 << 20));
    // Each kernel's text ends where the next begins.
    std::string marks;
    for (int i = 0; i < 20000; ++i) marks += "__global____global__ __a(";
    CHECK(parameter_names(marks + kernel, "by_warp") == Names{"argument 1"});
}

TEST_CASE("arguments become buffers and a parameter block, and come back as arrays") {
    const ptx::Program program = program_with({4, 8, 8});
    std::vector<KernelArgument> arguments;
    for (const char* text : {"f32:1.5", "in:f32{1,-2,3}", "out:f32[2,4]"}) arguments.push_back(parse_argument(text).value());
    simt::Memory memory;
    simt::LaunchConfig config;
    const std::string source = "// axpy\n__global__ void axpy(float a, const float* __restrict__ x, float *y) {}";
    const BoundArguments bound = bind_arguments(program, arguments, memory, config, 1, {}, source).value();
    REQUIRE(config.parameters.size() == 24);
    float a = 0;
    uint64_t x = 0;
    std::memcpy(&a, config.parameters.data(), 4);
    std::memcpy(&x, config.parameters.data() + 8, 8);
    CHECK(a == 1.5f);
    REQUIRE(memory.read(x, 12) != nullptr);
    CHECK(reinterpret_cast<const float*>(memory.read(x, 12))[1] == -2.0f);
    CHECK(memory.read(x, 13) == nullptr);
    CHECK(memory.find(x)->name == "x");
    const std::vector<Array> outputs = read_outputs(bound, memory);
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].shape == std::vector<int64_t>{2, 4});
    for (const std::byte b : outputs[0].bytes) CHECK(b == std::byte{0xCD});
}

TEST_CASE("inout files are read and written as npy") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_arguments_test";
    std::filesystem::create_directories(folder);
    Array array;
    array.dtype = DType::i32;
    array.shape = {3};
    array.bytes.resize(12);
    for (int32_t i = 0; i < 3; ++i) array.as<int32_t>()[i] = i - 1;
    write_file(folder / "x.npy", format_npy(array));
    const std::string out = (folder / "y.npy").string();
    const KernelArgument argument = parse_argument("inout:x.npy=" + out).value();
    CHECK(argument.output_file == out);
    simt::Memory memory;
    simt::LaunchConfig config;
    const BoundArguments bound = bind_arguments(program_with({8}), {argument}, memory, config, 1, folder).value();
    write_outputs(bound, read_outputs(bound, memory));
    const Array back = read_npy(out).value();
    CHECK(back.dtype == DType::i32);
    CHECK(back.bytes == array.bytes);
    std::filesystem::remove_all(folder);
}

TEST_CASE("fills are seeded, and the same seed gives the same values") {
    auto contents = [](const char* text, uint64_t seed) {
        return initial_contents(parse_argument(text).value(), seed).value();
    };
    CHECK(contents("in:f32[100]", 5).bytes == contents("in:f32[100]", 5).bytes);
    CHECK(contents("in:f32[100]", 5).bytes != contents("in:f32[100]", 6).bytes);
    const Array kinds = contents("in:i32[500 below 3]", 1);
    int count[3] = {};
    for (size_t i = 0; i < kinds.count(); ++i) {
        REQUIRE(kinds.as<int32_t>()[i] >= 0);
        REQUIRE(kinds.as<int32_t>()[i] < 3);
        ++count[kinds.as<int32_t>()[i]];
    }
    CHECK(count[0] > 100);
    CHECK(count[1] > 100);
    CHECK(count[2] > 100);
    CHECK(contents("in:f64[5 ramp]", 1).as<double>()[4] == 4.0);
    CHECK(contents("in:u8[2 zero]", 1).bytes == std::vector<std::byte>(2));
}

TEST_CASE("numbers keep to their type") {
    CHECK(parse_argument("u8:255").ok());
    CHECK(parse_argument("u8:256").ok() == false);
    CHECK(parse_argument("i8:-128").ok());
    CHECK(parse_argument("i8:-129").ok() == false);
    CHECK(parse_argument("u32:-1").ok() == false);
    CHECK(parse_argument("u64:0xffffffffffffffff").ok());
    CHECK(parse_argument("i64:-9223372036854775808").ok());
    CHECK(parse_argument("f32:nan").ok());
    CHECK(parse_argument("f32:1e-3").value().values.as<float>()[0] == 1e-3f);
    CHECK(parse_argument("i32:-7").value().values.as<int32_t>()[0] == -7);
}

TEST_CASE("a wrong argument says what is wrong and where") {
    CHECK(error_of("42") == "an argument begins with a type or with in:, out:, inout:, as in i32:42 or out:f32[1024] @1");
    CHECK(error_of("i23:4") == "unknown type 'i23', did you mean 'i32'? @1");
    CHECK(error_of("i32:4x") == "'4x' is not a value of type i32 @5");
    CHECK(error_of("in:f32{1,two}") == "'two' is not a value of type f32 @10");
    CHECK(error_of("in:f32{1,2") == "the list of values is not closed: '}' is missing @11");
    CHECK(error_of("out:f32[]") == "a count of elements is needed here, as in f32[1024] @9");
    CHECK(error_of("out:f32[99999999999]") == "the buffer is too large: at most 2^30 elements @9");
    CHECK(error_of("out:f32[99999,99999]") == "the buffer is too large: at most 2^30 elements @15");
    CHECK(error_of("out:x.npy") ==
          "an out: buffer needs its type and extents, as in out:f32[1024] or out:f32[1024]=y.npy @5");
    CHECK(error_of("in:f32[8 rampp]") == "unknown fill 'rampp', did you mean 'ramp'? @10");
    CHECK(error_of("in:f32[8 ones]") == "unknown fill 'ones': a buffer is filled with zero, ramp, random or below N @10");
    CHECK(error_of("in:f32{1}=y.npy") ==
          "unexpected '=y.npy' after the argument: values that come from a file are in:y.npy, which says their type and "
          "number; a buffer that is written to a file is inout: or out: @10");
    CHECK(error_of("in:f32[1024]=x.npy").find(": values that come from a file are in:x.npy, which says") !=
          std::string::npos);
    CHECK(error_of("in:f32=x.npy") == "a file says itself what type its values have: write in:x.npy @4");
    CHECK(error_of("inout:i32=x.npy") == "a file says itself what type its values have: write inout:x.npy @7");
    CHECK(error_of("out:f32[8]{0}") ==
          "unexpected '{0}' after the argument: what a buffer holds stands in brackets, as in inout:f32[1024 zero] or "
          "inout:f32{1,2,3} @11");
    CHECK(error_of("in:f32[8]=random").starts_with("unexpected '=random' after the argument: what a buffer holds stands"));
    const Result<BoundArguments> few = [] {
        simt::Memory memory;
        simt::LaunchConfig config;
        return bind_arguments(program_with({4, 8}), {parse_argument("i32:1").value()}, memory, config);
    }();
    REQUIRE(!few.ok());
    CHECK(few.error().message == "kernel '_Z4axpyfPKfPf' takes 2 arguments (b32 p, b64 p), but 1 is given");
}

TEST_CASE("expressions compute, compare and come apart at their outermost and") {
    CHECK(value_of("2 * (3 + 4) - -1") == 15);
    CHECK(value_of("ceil(n / 12)") == 3);
    CHECK(value_of("cycles@line:7 / 8 <= 12.5 && n == 25") == 1);
    CHECK(value_of("n < 25 || 0.1 + 0.2 == 0.3") == 1);
    CHECK(value_of("nothing == nothing") == 0);
    CHECK(value_of("nothing <= 1") == 0);
    CHECK(value_of("nothing != 1") == 0);
    CHECK(value_of("nothing > 1") == 0);
    const std::vector<Expression> clauses =
        Expression::parse("n == 25 && (n < 3 || n > 4) && cycles@line:7 <= 2").value().clauses();
    REQUIRE(clauses.size() == 3);
    CHECK(clauses[0].text() == "n == 25");
    CHECK(clauses[2].text() == "cycles@line:7 <= 2");
    CHECK(Expression::parse("1 +").error().where.column == 4);
    CHECK(Expression::parse("lanes(3)").error().message == "unknown function 'lanes': there are ceil, floor and abs");
    CHECK(!Expression::parse(std::string(5000, '(')).ok());
    CHECK(!Expression::parse(std::string(1500, '-')).ok());
    CHECK(fill_in("in:f32[$n] $(ceil(n / 4)) i32:$n", {{"n", 25}}).value() == "in:f32[25] 7 i32:25");
    CHECK(fill_in("$m", {{"n", 25}}).error().message == "'m' is not given in shapes, did you mean 'n'?");
}

TEST_CASE("an infinity equals itself alone, and a comparison with NaN is neither true nor false") {
    for (const char* wrong : {"1 / 0 <= 5", "1 / 0 == 5", "5 == 1 / 0", "1 / 0 < 5", "5 >= 1 / 0", "-1 / 0 >= 5",
                              "-1 / 0 == 5", "1 / 0 == -1 / 0", "1 / 0 != 1 / 0"}) {
        INFO(wrong);
        CHECK(value_of(wrong) == 0);
    }
    for (const char* right : {"1 / 0 > 5", "1 / 0 >= 5", "1 / 0 != 5", "-1 / 0 < 5", "1 / 0 == 1 / 0", "1 / 0 <= 1 / 0"}) {
        INFO(right);
        CHECK(value_of(right) == 1);
    }
    for (const char* neither :
         {"!(0 / 0 > 5)", "!!(0 / 0 > 5)", "!nothing", "nothing || 0", "nothing || nothing", "nothing && 1", "1 && nothing",
          "0 || nothing", "!(nothing && 1)", "!(nothing || 0)", "!(1 && nothing > 2)"}) {
        INFO(neither);
        CHECK(value_of(neither) == 0);
    }
    CHECK(value_of("nothing > 1 || n == 25") == 1);  // the other side decides alone
    CHECK(value_of("!(nothing > 1 && n == 24)") == 1);
    CHECK(std::isnan(value_of("nothing + 1")));
}

TEST_CASE("a buffer can be passed as a tensor map, whose box and swizzle the argument says") {
    ptx::Program program;
    program.kernel = "gemm";
    program.parameters.push_back({"map", ptx::Type::u8, 0, 128, 64, false});
    program.parameter_bytes = 128;
    simt::Memory memory;
    simt::LaunchConfig config;
    const auto bound = [&](const std::string& text) {
        const auto result = bind_arguments(program, {parse_argument(text).value()}, memory, config);
        return result ? std::string("bound") : result.error().message;
    };
    REQUIRE(bound("map:8x64,swizzle=128:in:f16[16,72 ramp]") == "bound");
    const auto layout = simt::read_tensor_map(config.parameters.data());
    REQUIRE(layout);
    CHECK(layout->rank == 2);
    CHECK(layout->dims[0] == 72);
    CHECK(layout->dims[1] == 16);
    CHECK(layout->box[0] == 64);
    CHECK(layout->box[1] == 8);
    CHECK(layout->strides[1] == 144);
    CHECK(layout->swizzle == simt::TensorSwizzle::bytes_128);
    CHECK(layout->type == simt::TensorType::f16);
    CHECK(memory.find(layout->address)->bytes == 16 * 144);

    CHECK_THAT(bound("map:8x64,swizzle=48:in:f16[16,72]"), Catch::Contains("a swizzle has 0, 32, 64 or 128 bytes, not 48"));
    CHECK_THAT(bound("map:8:in:f16[16,72]"), Catch::Contains("takes 1 strides"));
    CHECK_THAT(bound("map:8x64:in:f16[16,70]"), Catch::Contains("a multiple of 16 below 2^40, not 140"));
    CHECK_THAT(bound("in:f16[16,72]"), Catch::Contains("is a tensor map: give map:ROWSxCOLUMNS:in:f16[16,72]"));
    CHECK(error_of("map:0x8:in:f16[8]").starts_with("a box of one to five numbers is needed here"));
    CHECK(error_of("map:8x8x8x8x8x8:in:f16[8]").starts_with("a box of one to five numbers"));
    CHECK(error_of("map:8x64,in:f16[8]").starts_with("',swizzle=' or ':' and a buffer is needed here"));
    CHECK(error_of("map:8x64").starts_with("',swizzle=' or ':'"));
    CHECK(error_of("map:8:i32:4").starts_with("a tensor map is of a buffer"));
    CHECK(error_of("map:8:map:8:in:f16[8]").starts_with("a tensor map is of a buffer"));
}

namespace {

std::vector<KernelArgument> parsed(const std::vector<std::string>& texts) {
    std::vector<KernelArgument> arguments;
    for (const std::string& text : texts) arguments.push_back(parse_argument(text).value());
    return arguments;
}

uint64_t word_of(const simt::LaunchConfig& config, size_t at) {
    uint64_t word = 0;
    std::memcpy(&word, config.parameters.data() + at, sizeof word);
    return word;
}

const std::string two_arrays = "__global__ void axpy(float *in, float *out) {}\n";

}  // namespace

TEST_CASE("a pointer is null, into its own buffer, or into another parameter's by its name or number") {
    const std::string source = "__global__ void axpy(float *in, float *shifted, float *none, float *behind) {}\n";
    simt::Memory memory;
    simt::LaunchConfig config;
    const ptx::Program program = program_with({8, 8, 8, 8});
    auto bound =
        bind_arguments(program, parsed({"in:f32[16 ramp]+3", "@in+5", "null", "@1"}), memory, config, 1, {}, source);
    REQUIRE(bound.ok());
    const uint64_t base = bound.value().arguments[0].address;
    CHECK(word_of(config, 0) == base + 12);
    CHECK(word_of(config, 8) == base + 20);
    CHECK(word_of(config, 16) == 0);
    CHECK(word_of(config, 24) == base);
    CHECK(read_outputs(bound.value(), memory).empty());
    const auto refusal = [&](const std::vector<std::string>& texts) {
        simt::Memory other;
        simt::LaunchConfig launch;
        const auto result = bind_arguments(program_with({8, 8}), parsed(texts), other, launch, 1, {}, two_arrays);
        return result ? std::string("none") : result.error().message;
    };
    CHECK(refusal({"in:f32[4]", "@on"}) ==
          "argument 2 ('@on') means the buffer of 'on', and there is none, did you mean '@in'?");
    CHECK(refusal({"in:f32[4]", "in:f32[4]+5"}) == "argument 2 ('in:f32[4]+5') points behind 'out', which has 4 elements");
    CHECK(refusal({"in:f32[4]", "@in+5"}) == "argument 2 ('@in+5') points behind 'in', which has 4 elements");
    CHECK(refusal({"null", "@1"}) == "argument 2 ('@1') means the buffer of '1', and there is none");
    CHECK(error_of("@") == "the name or the number of a parameter with a buffer is needed here, as in @a or @2+16 @2");
    CHECK(error_of("@a+") == "a count of elements stands behind '+', as in in:f32[1024]+3 or @a+16 @3");
    CHECK(error_of("in:f32[4]+x") == "a count of elements stands behind '+', as in in:f32[1024]+3 or @a+16 @10");
    simt::Memory small;
    CHECK(bind_arguments(program_with({4}), parsed({"null"}), small, config).error().message ==
          "argument 1 ('null') is a pointer, but parameter 'p' takes 4 bytes");
}

TEST_CASE("a struct holds pointers, and an array of pointers is one of addresses") {
    ptx::Program program = program_with({8, 8});
    program.parameters[0] = {"m", ptx::Type::b8, 0, 24, 8, false};
    program.parameters[1].offset = 24;
    program.parameter_bytes = 32;
    const std::string source =
        "struct Matrix { int rows; float *data; float *next; };\n"
        "__global__ void axpy(Matrix m, float **rows) {}\n";
    simt::Memory memory;
    simt::LaunchConfig config;
    const auto bound = bind_arguments(
        program, parsed({"struct:i32:4,inout:f32{1,2,3},@rows[1]+1", "pointers:in:f32[2],out:f32[2],null,@m.2"}), memory,
        config, 1, {}, source);
    if (!bound) FAIL(bound.error().message);
    const auto& all = bound.value().arguments;
    REQUIRE(all.size() == 5);
    CHECK(all[2].name == "m.2");
    CHECK(all[3].name == "rows[0]");
    CHECK(all[4].name == "rows[1]");
    CHECK((word_of(config, 0) & 0xffffffffu) == 4);
    CHECK(word_of(config, 8) == all[2].address);
    CHECK(word_of(config, 16) == all[4].address + 4);
    CHECK(word_of(config, 24) == all[1].address);
    uint64_t addresses[4];
    std::memcpy(addresses, memory.read(all[1].address, sizeof addresses), sizeof addresses);
    CHECK(addresses[0] == all[3].address);
    CHECK(addresses[1] == all[4].address);
    CHECK(addresses[2] == 0);
    CHECK(addresses[3] == all[2].address);
    const std::vector<Array> outputs = read_outputs(bound.value(), memory);
    REQUIRE(outputs.size() == 2);
    CHECK(outputs[0].shape == std::vector<int64_t>{3});
    CHECK(error_of("pointers:i32:4") == "a pointer is needed here, as in pointers:in:f32[16],out:f32[16],@a+8,null @10");
    CHECK(error_of("struct:i32:4,in:f33[2]").starts_with("unknown type 'f33'"));
    CHECK(error_of("struct:i32:4,in:f33[2]").ends_with(" @17"));
}

TEST_CASE("a variable is given a struct or a pointer by its name, and an int is called an int") {
    ptx::Program program = program_with({});
    program.variables.push_back({.name = "table", .space = ptx::Space::global, .bytes = 16, .align = 8});
    simt::Memory memory;
    BoundArguments bound;
    const auto problem =
        bind_symbols(program, {parse_symbol("table=pointers:inout:f32[4 ramp],null").value()}, memory, 1, {}, &bound);
    REQUIRE_FALSE(problem);
    REQUIRE(bound.arguments.size() == 1);
    CHECK(bound.arguments[0].name == "table[0]");
    const uint64_t at = simt::place_variables(program, memory).at(0);
    uint64_t words[2];
    std::memcpy(words, memory.read(at, sizeof words), sizeof words);
    CHECK(words[0] == bound.arguments[0].address);
    CHECK(words[1] == 0);
    CHECK(read_outputs(bound, memory).size() == 1);
    CHECK(parse_symbol("table=null").error().message ==
          "a pointer is given to a variable as pointers:, such as pointers:null or pointers:@a+4");
    simt::LaunchConfig config;
    ptx::Program counts = program_with({4, 4});
    const auto few = bind_arguments(counts, {}, memory, config, 1, {}, "__global__ void axpy(int n, unsigned m) {}\n");
    CHECK(few.error().message.find("(int n, unsigned m)") != std::string::npos);
}

}  // namespace scene_arguments_test
