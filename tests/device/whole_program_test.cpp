// Whole programs, with main() and the standard library, by compilers that take kernels alone.
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/device/compile/kernels_only.h"
#include "core/device/compile/source_tokens.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/system/system.h"
#include "tests/catch.h"
#include "tests/compilers_here.h"

namespace device_whole_program_test {

using namespace lockstep;
using namespace lockstep::device;

namespace {

KernelsOnly kernels_of(std::string_view source) {
    KernelNames known;
    const auto find = [](std::string_view name, bool quoted) {
        return quoted || name == "stdio.h" ? std::optional<std::string>(name) : std::nullopt;
    };
    return kernels_only(source, find, known);
}

// The words that are left, without what is blank.
std::string left_of(std::string_view source) {
    std::string words;
    const std::string text = kernels_of(source).text;
    for (const SourceToken& token : tokens_of(text))
        words += std::string(words.empty() ? "" : " ") + std::string(token.text);
    return words;
}

const char* const program = R"cuda(#include <stdio.h>
#include <vector>
#include <string>
#include "scale.h"
using namespace std;
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)
#define ON_DEVICE __device__ __forceinline__
const int N = 1000;
static std::vector<float> values;
struct Timer { cudaEvent_t from, to; Timer() { cudaEventCreate(&from); } float ms() const; };
struct Pair {
    float a, b;
    __device__ float sum() const { return a + b; }
    string text() const { return "pair"; }
};
float reference(float x) { return x < 0 ? 0 : x; }
ON_DEVICE float twice(float x) { return 2 * x; }
constexpr int half(int n) { return n / 2; }
template <typename T, int tile> __global__ void fill(T* out, int n) {
    __shared__ T part[tile];
    int i = blockIdx.x * tile + threadIdx.x;
    part[threadIdx.x] = scaled(twice(Pair{(float)i, 1}.sum()));
    __syncthreads();
    if (i < n) out[i] = part[threadIdx.x];
}
template <typename T> void launch(T* out);
int main(int argc, char** argv) {
    vector<float> host(N);
    float* out;
    CHECK(cudaMalloc(&out, N * sizeof(float)));
    launch<float>(out);
    cudaMemcpy(host.data(), out, N * sizeof(float), cudaMemcpyDeviceToHost);
    if (argc > 1) { printf("%s {\n", argv[1]); }
}
template <typename T>
void launch(T* out) {
    const int tile = 64;
    fill<T, tile><<<(N + tile - 1) / tile, tile>>>(out, N);
}
)cuda";

}  // namespace

TEST_CASE("tokens are names, numbers, literals, punctuation and whole directives; comments are none") {
    std::vector<std::string> found;
    for (const SourceToken& token :
         tokens_of("#define A(x) \\\n  x /* 1 */ \nint /* { */ a = 0x1'0; // }\nR\"q(\")q\" '\\'' \"\\\"{\" k<<<1"))
        found.emplace_back(token.text);
    CHECK(found == std::vector<std::string>{"#define A(x) \\\n  x /* 1 */ ", "int", "a", "=", "0x1'0", ";", "R\"q(\")q\"",
                                            "'\\''", "\"\\\"{\"", "k", "<", "<", "<", "1"});
    CHECK(directive_name("#  include <a>") == "include");
}

TEST_CASE("the host's part is blanked out, and what is left keeps its lines and columns") {
    const std::string source = program;
    const KernelsOnly only = kernels_of(source);
    std::istringstream before(source), after(only.text);
    std::string line, left;
    while (std::getline(before, line)) {
        REQUIRE(std::getline(after, left));
        INFO(line);
        REQUIRE(left.size() == line.size());
        for (size_t i = 0; i < line.size(); ++i) CHECK((left[i] == ' ' || left[i] == line[i]));
    }
    for (const char* gone :
         {"<vector>", "namespace std", "main(", "cudaEvent_t", "values", "reference", "string text", "launch"})
        CHECK(only.text.find(gone) == std::string::npos);
    for (const char* kept :
         {"<stdio.h>", "scale.h", "const int N", "struct Pair", "float sum()", "twice", "half", "fill(", "CHECK"})
        CHECK(only.text.find(kept) != std::string::npos);
    CHECK(only.instances.find("fill<T, tile>") != std::string::npos);
    CHECK(only.instances.find("const int tile = 64;") != std::string::npos);
}

TEST_CASE("what is the host's is told declaration by declaration") {
    CHECK(left_of("int f() { return 1; } __device__ int g() { return 2; }") == "__device__ int g ( ) { return 2 ; }");
    CHECK(left_of("int n = 3; const int m = 4; __constant__ int c[4]; float x{2};") ==
          "const int m = 4 ; __constant__ int c [ 4 ] ;");
    CHECK(left_of("namespace a { void f(); __global__ void k(); } extern \"C\" { int h(); }") ==
          "namespace a { __global__ void k ( ) ; } extern \"C\" { }");
    CHECK(left_of("namespace cg = cooperative_groups; namespace fs = std::filesystem; using T = float;") ==
          "namespace cg = cooperative_groups ; using T = float ;");
    CHECK(
        left_of("struct A { int x; A(int v) : x{v}, y(2) { } int y; float (*f)(int); virtual void v(); A() = default; };") ==
        "struct A { int x ; int y ; float ( * f ) ( int ) ; virtual void v ( ) ; A ( ) = default ; } ;");
    CHECK(left_of("struct B { std::string s; }; struct C { std::size_t n; cuda::std::array<int, 2> a; };") ==
          "struct C { std : : size_t n ; cuda : : std : : array < int , 2 > a ; } ;");
    CHECK(left_of("#ifdef X\nint f(int a) {\n#else\nint f() {\n#endif\nreturn 1; }\n__global__ void k() {}") ==
          "#ifdef X #else #endif __global__ void k ( ) { }");
    CHECK(left_of("#if 0\nint f( {\n#endif\n__device__ int x;") == "#if 0 int f ( { #endif __device__ int x ;");
    CHECK(left_of("#define K(T) __global__ void k_##T(T* x) {}\nK(float)\nint main() { }") ==
          "#define K(T) __global__ void k_##T(T* x) {} K ( float )");
    CHECK(left_of("template <class T> T f(T a) { return a < 1 ? a : f<T>(a - 1); } enum E { a, b };") ==
          "enum E { a , b } ;");
    CHECK(left_of("V operator+(V a, V b) { return a; } __device__ V operator-(V a) { return a; }") ==
          "__device__ V operator - ( V a ) { return a ; }");
    CHECK(left_of("} } int f() { { ( [").find("int") == std::string::npos);  // nothing has to match
}

TEST_CASE("instances are named of the launches, through templates of the host and members of classes") {
    const std::string named = kernels_of(R"(
template <int n> __global__ void k(float* x) {}
template <typename T> class Run { public: void go() { k<sizeof(T)><<<1, 32>>>(x); } float* x; };
template class Run<double>;
namespace inner { template <bool b> __global__ void j() {} void go() { auto f = j<true>; } }
void again() { const int a = 2, b = a * 3; int c = 9; k<b><<<c, 1>>>(nullptr); f<<<1, 1>>>(); if (c < a) k<4><<<1, 1>>>(0); })")
                                  .instances;
    CHECK(named.find("(void)&k<sizeof(T)>") != std::string::npos);
    CHECK(named.find("<double>;") != std::string::npos);
    CHECK(named.find("namespace inner {") != std::string::npos);
    CHECK(named.find("{ const int a = 2, b = a * 3; (void)&k<b>; }") != std::string::npos);
    CHECK(named.find("{ (void)&k<4>; }") != std::string::npos);
    CHECK(kernels_of("__global__ void k() {} int main() { k<<<1, 1>>>(); }").instances.empty());
}

TEST_CASE("a whole program's kernels come of every compiler, with the same entries and lines") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "program.cu").string();
    write_file(folder.path() / "program.cu", program);
    write_file(folder.path() / "scale.h",
               "#pragma once\n#include <map>\nstd::map<int, int> table;\ninline void show() { puts(\"\"); }\n"
               "__device__ inline float scaled(float x) { return 3 * x; }\n");
    for (const std::string compiler : {"nvrtc", "nvcc", "clang"}) {
        if (!compiler_here(compiler)) continue;
        INFO(compiler);
        CompileOptions options;
        options.compiler = compiler;
        auto compiled = compile(program, file, options);
        if (!compiled.ok()) FAIL(compiled.error().message << " " << compiled.error().where.line);
        const auto module = ptx::parse(compiled.value().ptx, "program.ptx");
        REQUIRE(module.ok());
        REQUIRE(ptx::entries(module.value()) == std::vector<std::string>{"_Z4fillIfLi64EEvPT_i"});
        const auto kernel = ptx::decode(module.value()).value();
        std::set<int> lines;
        for (const ptx::DecodedInstruction& i : kernel->instructions) lines.insert(i.line);
        CHECK(lines.contains(25));  // if (i < n) ...
        CHECK(*lines.rbegin() <= 26);
    }
}

TEST_CASE("in a whole program a mistake in a kernel has its place, and a template without an instance is named") {
    for (const std::string compiler : {"nvrtc", "clang"}) {
        if (!compiler_here(compiler)) continue;
        INFO(compiler);
        CompileOptions options;
        options.compiler = compiler;
        const auto wrong = compile("#include <vector>\nint main() { k<<<1, 1>>>(); }\n__global__ void k() { int a = bb; }\n",
                                   "wrong.cu", options);
        REQUIRE_FALSE(wrong.ok());
        CHECK(wrong.error().where.line == 3);
        CHECK(wrong.error().message.find("bb") != std::string::npos);
        const auto none = compile(
            "#include <vector>\ntemplate <class T> __global__ void k(T* x) {}\n"
            "int main() { float* x; k<<<1, 1>>>(x); }\n",
            "none.cu", options);
        // clang reads the host's part of the program too, and knows what x is
        REQUIRE(none.ok() == (compiler == "clang"));
        if (!none.ok()) CHECK(none.error().message.find("k<float><<<...>>>") != std::string::npos);
        // an instance that only the host can tell is left out, and the other kernels stay
        const auto partly = compile(
            "#include <vector>\ntemplate <class T> __global__ void k(T* x) {}\n__global__ void j() {}\n"
            "int main() { k<std::vector<int>><<<1, 1>>>(0); }\n",
            "partly.cu", options);
        REQUIRE(partly.ok());
        CHECK(partly.value().ptx.find(".entry _Z1jv") != std::string::npos);
    }
}

namespace {

const std::vector<std::string> any_and_each = {"", "nvrtc", "nvcc", "clang"};

struct Outcome {
    bool ok = false;
    std::string ptx, compiler, error;
    std::vector<Diagnostic> messages;
    bool has(const std::string& kernel) const { return ptx.find(kernel) != std::string::npos; }
    bool warns(const std::string& words) const {
        for (const Diagnostic& message : messages)
            if (message.severity == Severity::warning && message.message.find(words) != std::string::npos) return true;
        return false;
    }
};

Outcome outcome_of(const std::string& source, const std::string& compiler) {
    Outcome outcome;
    CompileOptions options;
    options.compiler = compiler;
    options.seconds = 120;
    options.messages = &outcome.messages;
    auto compiled = compile(source, "own.cu", options);
    outcome.ok = compiled.ok();
    if (outcome.ok)
        outcome.ptx = compiled.value().ptx, outcome.compiler = compiled.value().compiler;
    else
        outcome.error = compiled.error().message;
    return outcome;
}

}  // namespace

TEST_CASE("a host's part that does not compile leaves the kernels, and a word about it") {
    const std::string kernel = "__global__ void k(float *p) { p[threadIdx.x] *= 2; }\n";
    for (const std::string& host :
         {"#include <wb.h>\n" + kernel + "int main(int c, char** v) { wbArg_t a = wbArg_read(c, v); k<<<1, 1>>>(0); }\n",
          "#include <torch/extension.h>\n" + kernel +
              "torch::Tensor f(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); return x; }\n",
          kernel + "int main() { cudaDeviceProp p; int r = p.clockRate; cudaThreadSynchronize(); k<<<1, 1>>>(0); }\n"})
        for (const std::string& compiler : any_and_each) {
            if (!compiler_here(compiler)) continue;
            INFO(compiler << ": " << host);
            const Outcome outcome = outcome_of(host, compiler);
            REQUIRE(outcome.ok);
            CHECK(outcome.has(".entry _Z1kPf"));
            if (compiler == "" && compiler_here("nvrtc") && compiler_here("nvcc"))
                CHECK(outcome.warns("the host's part is refused: "));
        }
}

TEST_CASE("what nvcc has without being asked the other compilers have too") {
    const std::vector<std::string> sources = {
        "__global__ void k(uint *p, uint n) { ushort q = 3; ulong r = 4; if (threadIdx.x < n) p[0] = q + r; }\n",
        "#include <cmath>\n#include <limits>\n#include <algorithm>\n#include <cstdint>\n"
        "__global__ void k(float *p, double *d, int n) {\n"
        "    std::size_t i = threadIdx.x; std::int32_t m = std::max(n, 3);\n"
        "    if (std::isnan(p[i]) || std::isinf(d[i])) p[i] = std::numeric_limits<float>::max();\n"
        "    p[i] += std::abs(p[i]) + std::sqrt(p[i]) + std::fmax(p[i], 1.0f) + std::min(p[i], 1.0f);\n"
        "    d[i] += std::abs(d[i]) + std::floor(d[i]) + std::numeric_limits<double>::epsilon() + m;\n}\n",
        "#include <iostream>\n#include <vector>\n#include <cstring>\n#include <time.h>\n#include <string>\n"
        "__global__ void k(float *p) { p[threadIdx.x] *= 2; }\n",
        "constexpr int twice(int x) { return 2 * x; }\n__global__ void k(int* p) { *p = twice(*p); }\n"
        "template <class F> __global__ void apply(F f, int* p) { *p = f(*p); }\n"
        "int main() { int a = 3; apply<<<1, 1>>>([=] __device__ (int x) { return x + a; }, (int*)0); k<<<1, 1>>>(0); }\n",
        "const float h = 0.5f;\nconst float h2 = h * h;\n__global__ void k(float* p) { *p = h2; }\n"
        "int main() { k<<<1, 1>>>(0); }\n",
        "#include <vector>\nclass A { std::vector<int> v; };\nclass B : public A { public: int y; };\n"
        "__global__ void k(int* p) { *p = 1; }\nint main() { B b; k<<<1, 1>>>(0); }\n",
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__device__ __managed__ int total;\n"
        "__global__ void k(int* p, unsigned* q) {\n    cg::thread_block g = cg::this_thread_block();\n"
        "    auto t = cg::tiled_partition(g, 32);\n    p[threadIdx.x] = t.thread_rank(); total = 1;\n"
        "    q[0] = __dp4a(q[1], q[2], q[3]); p[0] = __dp4a(p[1], p[2], p[3]);\n}\n"};
    for (const std::string& source : sources)
        for (const std::string& compiler : any_and_each) {
            if (!compiler_here(compiler)) continue;
            INFO(compiler << ": " << source);
            const Outcome outcome = outcome_of(source, compiler);
            INFO(outcome.error);
            CHECK(outcome.ok);
            CHECK(outcome.has(".entry _Z1k"));
        }
    if (compiler_here("nvrtc") || compiler_here("nvcc")) {
        const Outcome power = outcome_of("__global__ void k(int *q, float* o) { int p = q[0]; o[0] = pow(2, p); }\n", "");
        INFO(power.error);
        CHECK(power.ok);
    }
}

TEST_CASE("a template of a kernel without an instance is never dropped in silence") {
    const std::string fill =
        "template <class T> __global__ void fill(T *p, T v, int n) { if (threadIdx.x < n) p[threadIdx.x] = v; }\n";
    const std::string deduced = fill +
                                "__global__ void other(int* p) { *p = 1; }\n"
                                "void host() { float* d = 0; int n = 4; fill<<<4, 256>>>(d, 1.0f, n); }\n";
    const std::string by_macro = fill +
                                 "#define LAUNCH(T, n) fill<T><<<4, 256>>>((T*)0, T(1), n)\n"
                                 "__global__ void other(int* p) { *p = 1; }\nvoid host() { LAUNCH(float, 3); }\n";
    for (const std::string& compiler : any_and_each) {
        if (!compiler_here(compiler)) continue;
        INFO(compiler);
        const Outcome alone = outcome_of(fill, compiler);
        CHECK_FALSE(alone.ok);
        CHECK(
            alone.error.starts_with("there is no kernel here, for 'fill' is a template and no launch says which instance"));
        for (const std::string& source : {deduced, by_macro}) {
            const Outcome outcome = outcome_of(source, compiler);
            REQUIRE(outcome.ok);
            CHECK(outcome.has(".entry _Z5otherPi"));
            CHECK(outcome.has("_Z4fillIfEvPT_S0_i") != outcome.warns("the kernel 'fill' is left out"));
            if (compiler == "nvcc" || compiler == "clang") CHECK(outcome.has("_Z4fillIfEvPT_S0_i"));
        }
    }
}

TEST_CASE("what CUDA took away is named with what replaces it") {
    for (const std::string& compiler : any_and_each) {
        if (!compiler_here(compiler)) continue;
        INFO(compiler);
        const Outcome shuffle =
            outcome_of("__global__ void k(int* p) { p[threadIdx.x] = __shfl_down(p[threadIdx.x], 1); }\n", compiler);
        if (compiler != "clang") {  // which takes a source that it refuses as a whole program's, where the old names live
            CHECK(shuffle.error == "CUDA 13 took away __shfl_down: __shfl_down_sync(0xffffffff, value, by) replaces it");
        }
        if (compiler == "clang") CHECK(shuffle.ok);
    }
    if (!compiler_here("nvcc") && !compiler_here("nvrtc")) return;
    const Outcome texture = outcome_of(
        "texture<float, 2, cudaReadModeElementType> t;\n__global__ void k(float* p) { *p = tex2D(t, 1.0f, 2.0f); }\n", "");
    CHECK(texture.error.starts_with("CUDA 12 took away texture<>: a parameter 'cudaTextureObject_t t'"));
}

TEST_CASE("comments in an older encoding hide no code") {
    const std::string source =
        "__global__ void k(int* p) {\n    int sum = 0;  // \xf1\xf3\xec\xec\xe0 \xff\n    p[0] = sum + 41;  // "
        "\xff\n    p[1] = 42; /* \xff */\n}\n";
    CHECK(with_plain_comments("a /* \xff\xc3\xa9 */ \"\xc3\xa9\" // \xe9").find('\xff') == std::string::npos);
    CHECK(with_plain_comments("\"\xc3\xa9\" // x") == "\"\xc3\xa9\" // x");
    for (const std::string& compiler : any_and_each) {
        if (!compiler_here(compiler)) continue;
        INFO(compiler);
        const Outcome outcome = outcome_of(source, compiler);
        REQUIRE(outcome.ok);
        CHECK(outcome.has("41"));
        CHECK(outcome.has("42"));
    }
}

}  // namespace device_whole_program_test
