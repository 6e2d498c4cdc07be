// Functions that are called (tests/golden/functions.h), compiled by every compiler that this machine has, with and without
// optimisation, and run functionally and timed: they give what the same text gives on the host.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "tests/catch.h"
#include "tests/compiler_support.h"

namespace every_function_test {

#define LOCKSTEP_HOST
#include "tests/golden/functions.h"

using namespace lockstep;

namespace {

constexpr int threads = 96;

int number(int i) {
    return static_cast<int>((static_cast<unsigned>(i) * 2654435761u) >> 20);
}

struct Case {
    const char* kernel;
    const char* type;
    std::string (*wanted)(int x);
    bool approximate = false;
};

template <class T>
std::string text(T value) {
    return fmt::format("{}", value);
}
template <auto Function>
std::string of(int x) {
    return text(Function(x));
}
const Case cases[] = {
    {"k_factorial", "u64", of<k_factorial_of>}, {"k_fibonacci", "i32", of<k_fibonacci_of>},
    {"k_ackermann", "i32", of<k_ackermann_of>}, {"k_mutual", "i32", of<k_mutual_of>},
    {"k_quicksort", "i32", of<k_quicksort_of>}, {"k_structure", "f64", of<k_structure_of>},
    {"k_virtual", "i32", of<k_virtual_of>},     {"k_pointer", "i32", of<k_pointer_of>},
    {"k_switch", "i32", of<k_switch_of>},       {"k_tree", "i32", of<k_tree_of>},
};

std::string element(const Array& array, size_t i) {
    switch (array.dtype) {
        case DType::i32:
            return text(array.as<int32_t>()[i]);
        case DType::u64:
            return text(array.as<uint64_t>()[i]);
        default:
            return text(array.as<double>()[i]);
    }
}

Array run(const ptx::Module& module, const std::string& kernel, const std::string& input, const std::string& type,
          bool timed, bool independent = true) {
    const auto program = ptx::decode(module, kernel).value();
    simt::Memory memory;
    simt::LaunchConfig config;
    config.block = {threads, 1, 1};
    const std::vector<scene::KernelArgument> arguments = {scene::parse_argument(input).value(),
                                                          scene::parse_argument("out:" + type + "[96]").value()};
    const auto bound = scene::bind_arguments(*program, arguments, memory, config).value();
    simt::LaunchResult result;
    simt::LaunchOptions options;
    options.independent = independent;
    if (timed)
        result = model::launch(model::gpu_named("v100").value(), *program, config, memory, {});
    else
        result = simt::launch(*program, config, memory, options);
    INFO((result.fault ? simt::render(*result.fault) : ""));
    REQUIRE(!result.fault);
    return scene::read_outputs(bound, memory).back();
}

void check_cases(const std::string& ptx_text, const std::string& by) {
    const auto parsed = ptx::parse(ptx_text, "functions.ptx");
    INFO(by << (parsed.ok() ? "" : render(parsed.error())));
    REQUIRE(parsed.ok());
    std::string input = "in:i32{";
    for (int i = 0; i < threads; ++i) input += (i ? "," : "") + std::to_string(number(i));
    for (const Case& c : cases)
        for (const int way : {0, 1, 2}) {
            INFO(c.kernel << (way == 0 ? ", functional" : way == 1 ? ", on a stack" : ", timed"));
            const Array output = run(parsed.value(), c.kernel, input + "}", c.type, way == 2, way != 1);
            for (int i = 0; i < threads; ++i) {
                INFO(i);
                REQUIRE(element(output, static_cast<size_t>(i)) == c.wanted(number(i)));
            }
        }
}

std::string source() {
    return read_file(LOCKSTEP_SOURCE_DIR "/tests/golden/functions.h").value();
}

bool there(const std::string& command) {
    return std::system((command + " --version > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("functions that are not inlined give on the machine what they give on the host, by every compiler") {
    size_t compiled = 0;
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) {
            fmt::print("skipped: {} is {}\n", compiler.name, compiler.description);
            continue;
        }
        ++compiled;
        const auto result = device::compile(source(), "functions.cu", {.compiler = compiler.name});
        INFO(compiler.name << (result.ok() ? "" : render(result.error())));
        REQUIRE(result.ok());
        check_cases(result.value().ptx, compiler.name);
    }
    if (!compiled) fmt::print("skipped: no compiler for CUDA C++ is here\n");
}

TEST_CASE("so they do for a debugger and as separate units, where every function is called") {
    const std::string nvcc = there("nvcc") ? "nvcc" : there("/usr/local/cuda/bin/nvcc") ? "/usr/local/cuda/bin/nvcc" : "";
    if (nvcc.empty()) {
        fmt::print("skipped: nvcc is not here\n");
        return;
    }
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_every_function";
    std::filesystem::create_directories(folder);
    write_file(folder / "functions.cu", source());
    for (const std::string options : {"-G", "-rdc=true", "-G -rdc=true"}) {
        const std::string command = nvcc + " -w -ptx " + options + " -o " + (folder / "functions.ptx").string() + " " +
                                    (folder / "functions.cu").string();
        REQUIRE(std::system(command.c_str()) == 0);
        check_cases(read_file((folder / "functions.ptx").string()).value(), "nvcc " + options);
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("so they do by clang without optimisation") {
    if (!there("clang")) {
        fmt::print("skipped: clang is not here\n");
        return;
    }
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lockstep_every_function_clang";
    std::filesystem::create_directories(folder);
    write_file(folder / "functions.cu", source());
    const std::string include = LOCKSTEP_SOURCE_DIR "/kernels/include";
    const std::string command =
        "clang -w -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-path=/not-there -Xclang -target-feature -Xclang "
        "+ptx64 -nocudainc -nostdlibinc -nocudalib -std=c++17 -O0 -S -isystem " +
        include + "/standard -isystem " + include + "/clang -include " + include + "/lockstep_cuda.h -o " +
        (folder / "functions.ptx").string() + " " + (folder / "functions.cu").string();
    REQUIRE(std::system(command.c_str()) == 0);
    check_cases(read_file(folder / "functions.ptx").value(), "clang -O0");
    std::filesystem::remove_all(folder);
}

TEST_CASE("double-precision functions whose slow ways are called come within some units in the last place") {
    const std::string kernels = R"cuda(
extern "C" __global__ void k_sin(const double* in, double* out) { int i = threadIdx.x; out[i] = sin(in[i]); }
extern "C" __global__ void k_cos(const double* in, double* out) { int i = threadIdx.x; out[i] = cos(in[i]); }
extern "C" __global__ void k_pow(const double* in, double* out) { int i = threadIdx.x; out[i] = pow(fabs(in[i]) + 0.5, 1.75); }
)cuda";
    double (*const wanted[])(double) = {[](double x) { return std::sin(x); }, [](double x) { return std::cos(x); },
                                        [](double x) { return std::pow(std::fabs(x) + 0.5, 1.75); }};
    std::vector<double> values;
    for (int i = 0; i < threads; ++i)
        values.push_back(std::ldexp(1 + (i * 37 % 64) / 64.0, i % 48) * (i % 2 ? -1 : 1) * 1.1);
    std::string input = "in:f64{";
    for (int i = 0; i < threads; ++i) input += fmt::format("{}{}", i ? "," : "", values[static_cast<size_t>(i)]);
    for (const device::DeviceListing& compiler : device::list_compilers()) {
        if (!compiler.available) continue;
        INFO(compiler.name);
        const auto compiled = device::compile(kernels, "double.cu", {.compiler = compiler.name});
        if (compiler.name == "clang" && !has_libclc()) {
            REQUIRE_FALSE(compiled.ok());
            CHECK(compiled.error().message == "clang has 'pow' with the Debian package libclc-14, which is not installed");
            CHECK(compiled.error().where.line == 4);
            continue;
        }
        const auto module = ptx::parse(compiled.value().ptx, "double.ptx").value();
        const char* const names[] = {"k_sin", "k_cos", "k_pow"};
        for (int k = 0; k < 3; ++k) {
            const Array output = run(module, names[k], input + "}", "f64", false);
            for (int i = 0; i < threads; ++i) {
                const double x = values[static_cast<size_t>(i)], expected = wanted[k](x);
                INFO(names[k] << " of " << x);
                const double got = output.as<double>()[i];
                REQUIRE(std::fabs(got - expected) <= 4 * 2.3e-16 * std::fabs(expected));
            }
        }
    }
}

}  // namespace every_function_test
