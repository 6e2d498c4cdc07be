#include "app/cli/measure/bench_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/base/files.h"
#include "core/device/compile/program.h"
#include "core/runtime/report/settings.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr std::string_view vector_add_program = R"(#include <cstdio>
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    const int n = 10000;
    float *a, *b, *c;
    cudaMallocManaged(&a, n * sizeof(float));
    cudaMallocManaged(&b, n * sizeof(float));
    cudaMallocManaged(&c, n * sizeof(float));
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaDeviceSynchronize();
    printf("%g\n", c[n - 1]);
    return c[n - 1] == 3.f * (n - 1) ? 0 : 1;
}
)";

// Times are the wall's, of the calls alone; the program prints them.
constexpr std::string_view calls_program = R"(#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void nothing() {}
template <class Work>
double seconds(int times, Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
int main() {
    nothing<<<1, 32>>>();
    const double launch = seconds(20000, [] { nothing<<<1, 32>>>(); });
    const size_t bytes = size_t(256) << 20;
    char *h = static_cast<char*>(malloc(bytes)), *d;
    memset(h, 1, bytes);
    cudaMalloc(&d, bytes);
    cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);
    double in = 1e9, out = 1e9, fill = 1e9;
    for (int k = 0; k < 4; ++k) {
        const double a = seconds(1, [&] { cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice); });
        const double b = seconds(1, [&] { cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost); });
        const double c = seconds(1, [&] { cudaMemset(d, k, bytes); });
        in = a < in ? a : in, out = b < out ? b : out, fill = c < fill ? c : fill;
    }
    const double native = seconds(1, [&] { memcpy(d ? h + bytes / 2 : h, h, bytes / 2); }) * 2;
    printf("%.3f %.3f %.3f %.3f %.3f\n", launch / 20000 * 1e6, bytes / in / 1e9, bytes / out / 1e9, bytes / fill / 1e9, bytes / native / 1e9);
}
)";

struct Outcome {
    device::BuiltProgram built;
    std::string printed;
};

Outcome run(const std::filesystem::path& source, const std::string& compiler, int64_t timed_launches) {
    device::ProgramRequest request;
    request.sources = {source.string()};
    request.compiler = compiler;
    request.least_arch = 70;
    Outcome outcome{device::build_program(request).value(), ""};
    runtime::Settings settings;
    settings.timed_launches = timed_launches;
    settings.report = (source.parent_path() / "report.json").string();
    std::vector<std::string> environment = runtime::environment_of(settings);
    for (std::string& setting : device::library_settings()) environment.push_back(std::move(setting));
    const system::ChildOutcome ended =
        system::run_watched({.program = outcome.built.executable, .name = "program", .settings = environment}, "",
                            [&](std::string_view text, bool) {
                                outcome.printed += text;
                                return true;
                            });
    if (!ended.succeeded()) throw Failure("a program of the bench failed: " + outcome.printed);
    return outcome;
}

bool is_here(const std::string& compiler) {
    try {
        const TemporaryFolder folder;
        write_file(folder.path() / "main.cu", "int main() {}\n");
        device::ProgramRequest request;
        request.sources = {(folder.path() / "main.cu").string()};
        request.compiler = compiler;
        return device::build_program(request).ok();
    } catch (const Failure&) {
        return false;
    }
}

}  // namespace

void program_bench(std::string_view wanted, const std::function<void(BenchRow)>& add) {
    const auto asked = [&](std::string_view row) { return row.starts_with(wanted) || wanted.starts_with(row); };
    if (!asked("program")) return;
    const TemporaryFolder folder;
    std::string first;
    for (const std::string compiler : {"clang", "nvcc"}) {
        const std::string fresh = "program/from_nothing/" + compiler, again = "program/again/" + compiler;
        if ((!asked(fresh) && !asked(again) && !asked("program/call")) || !is_here(compiler)) continue;
        if (first.empty()) first = compiler;
        if (!asked(fresh) && !asked(again)) continue;
        double build_and_run = 1e9, second = 1e9;
        Outcome outcome;
        for (int k = 0; k < 3; ++k) {  // a text that nobody has compiled
            const std::filesystem::path source = folder.path() / fmt::format("vector_add_{}_{}.cu", compiler, k);
            write_file(source, std::string(vector_add_program) + fmt::format("// {}\n", folder.path().string()));
            Clock::time_point begin = Clock::now();
            outcome = run(source, compiler, 3);
            build_and_run = std::min(build_and_run, seconds_since(begin));
            begin = Clock::now();
            run(source, compiler, 3);
            second = std::min(second, seconds_since(begin));
        }
        const std::string config = fmt::format("vector add of 10,000 elements on V100, {}, timed", outcome.built.compiler);
        if (asked(fresh)) add({fresh, build_and_run, "s, build and run", config});
        if (asked(again)) add({again, second, "s, the same text again", config});
    }
    if (first.empty() || !asked("program/call")) return;
    const std::filesystem::path source = folder.path() / "calls.cu";
    write_file(source, calls_program);
    const Outcome outcome = run(source, first, 0);
    double launch = 0, in = 0, out = 0, fill = 0, native = 0;
    if (std::sscanf(outcome.printed.c_str(), "%lf %lf %lf %lf %lf", &launch, &in, &out, &fill, &native) != 5)
        throw Failure("a program of the bench printed '" + outcome.printed + "'");
    const std::string copies = fmt::format("256 MiB of pageable memory; memcpy on this computer: {:.1f} GB/s", native);
    for (const BenchRow& row :
         {BenchRow{"program/call/launch", launch, "µs a launch", "20,000 launches of an empty kernel, not timed"},
          BenchRow{"program/call/copy_in", in, "GB/s", copies}, BenchRow{"program/call/copy_out", out, "GB/s", copies},
          BenchRow{"program/call/memset", fill, "GB/s", "256 MiB"}})
        if (asked(row.name)) add(row);
}

}  // namespace lockstep::cli
