// What the report knows of the host: every call in order, on the model's clock, with its line; allocations from begin to
// end; marks; the lines of launches, which no compiler says, from debug information.
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/runtime/report/report.h"
#include "core/runtime/report/sites.h"
#include "tests/cli/support.h"

namespace runtime_calls_test {
namespace {

namespace fs = std::filesystem;
using lockstep::runtime::Report;

bool is_here(const char* compiler) {
    const Outcome devices = lockstep_command("devices");
    const size_t at = devices.out.find(compiler);
    return at != std::string::npos &&
           devices.out.substr(at, devices.out.find('\n', at) - at).find("missing") == std::string::npos;
}

std::vector<std::string> compilers() {
    std::vector<std::string> here;
    for (const char* name : {"nvcc", "clang"})
        if (is_here(name)) here.emplace_back(name);
    return here;
}

// Launches of every kind: a template, one in a function that is inlined, in a macro, through a pointer, a lambda, and a
// call.
const char* const launches = R"(#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
template <class T>
__global__ void fill(T* p, T v) { p[threadIdx.x] = v; }
static __global__ void local(int* p) { p[0] += 1; }
namespace { __global__ void hidden(int* p) { p[0] += 1; } }
template <class F> __global__ void each(F f) { f(threadIdx.x); }
#define LAUNCH(k, ...) k<<<1, 32>>>(__VA_ARGS__)
static void helper(int* d) {
    local<<<1, 1>>>(d);                                          // 10
}
static void any(void (*kernel)(int*), int* d) {
    kernel<<<1, 1>>>(d);                                         // 13
}
int main(int argc, char**) {
    int *d, h = 0;
    nvtxRangePushA("all");
    cudaMalloc(&d, 128);                                         // 18
    fill<int><<<1, 32>>>(d, 3);                                  // 19
    fill<float><<<1, 32>>>((float*)d, 3);                        // 20
    helper(d);
    hidden<<<1, 1>>>(d);                                         // 22
    nvtxMarkA("here");
    LAUNCH(fill<int>, d, 4);                                     // 24
    any(argc > 1 ? local : hidden, d);
    each<<<1, 32>>>([d] __device__(unsigned i) { d[i] *= 2; });  // 26
    void* arguments[] = {&d};
    cudaLaunchKernel((void*)local, dim3(1), dim3(1), arguments, 0, 0);  // 28
    cudaDeviceSynchronize();                                     // 29
    nvtxRangePop();
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);                // 31
    cudaFree(d);                                                 // 32
    int* kept;
    cudaMalloc(&kept, 64);                                       // 34
    return h == 11 ? 0 : h;
}
)";
const std::vector<int> lines_of_launches = {19, 20, 10, 22, 24, 13, 26, 28};

nlohmann::json report_in(const fs::path& file) {
    return nlohmann::json::parse(lockstep::read_file(file).value());
}

std::vector<int> lines_in(const nlohmann::json& records) {
    std::vector<int> lines;
    for (const auto& record : records) {
        lines.push_back(record.at("line"));
        CHECK(fs::path(record.at("file").get<std::string>()).filename().string().find(".cu") != std::string::npos);
    }
    return lines;
}

TEST_CASE("every launch has its line, whatever it is written in") {
    ::setenv("XDG_CACHE_HOME", (scratch() / "cache").c_str(), 1);
    const std::string file = write("launches.cu", launches);
    const fs::path json = scratch() / "launches.json";
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --compiler " + compiler + " --json " + json.string());
        INFO(compiler << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
        const auto report = report_in(json);
        CHECK(lines_in(report.at("launches")) == lines_of_launches);
        CHECK_FALSE(report.contains("places"));
    }
}

TEST_CASE("a binary that was compiled with -g says its lines to exec") {
    if (!is_here("nvcc")) {
        WARN("skipped: nvcc is not here");
        return;
    }
    const std::string file = write("launches.cu", launches);
    const fs::path json = scratch() / "launches.json", binary = scratch() / "launches";
    for (const char* option : {"-g -O0", "-g -O2"}) {
        const std::string command = "nvcc -arch=sm_75 -cudart shared --extended-lambda " + std::string(option) + " -o " +
                                    binary.string() + " " + file;
        REQUIRE(std::system(command.c_str()) == 0);
        const Outcome ran = lockstep_command("exec --json " + json.string() + " -- " + binary.string());
        INFO(option << "\n" << ran.err);
        CHECK(ran.status == 0);
        const auto report = report_in(json);
        CHECK(lines_in(report.at("launches")) == lines_of_launches);
        CHECK(lines_in(report.at("allocations")) == std::vector{18, 34});
        CHECK(report.at("allocations").at(0).at("name") == "d");  // as the source says there
        CHECK(ran.err.find("kept (device, 64 bytes), allocated at") != std::string::npos);
    }
}

TEST_CASE("the report holds every call in order, with what it asked for") {
    const std::string file = write("launches.cu", launches);
    const fs::path json = scratch() / "calls.json", trace = scratch() / "calls.trace.json";
    for (const std::string& compiler : compilers()) {
        const Outcome ran = lockstep_command("run " + file + " --compiler " + compiler + " --json " + json.string() +
                                             " --trace " + trace.string());
        INFO(compiler << "\n" << ran.err);
        const auto report = report_in(json);
        const auto& calls = report.at("calls");
        std::vector<std::string> names;
        double before = 0;
        for (const auto& call : calls) {
            names.push_back(call.at("call"));
            CHECK(call.at("begin_us").get<double>() >= before);
            before = call.at("end_us").get<double>();
            CHECK(before >= call.at("begin_us").get<double>());
        }
        std::vector<std::string> expected(8, "cudaLaunchKernel");
        expected.insert(expected.begin(), "cudaMalloc");
        for (const char* name : {"cudaDeviceSynchronize", "cudaMemcpy", "cudaFree", "cudaMalloc"}) expected.push_back(name);
        CHECK(names == expected);
        CHECK(lines_in(calls) == std::vector{18, 19, 20, 10, 22, 24, 13, 26, 28, 29, 31, 32, 34});

        for (size_t k = 0; k < 8; ++k) CHECK(report.at("launches")[k].at("call") == k + 1);
        CHECK(report.at("copies")[0].at("call") == 10);
        // It waits for the last kernel.
        CHECK(calls[9].at("end_us").get<double>() >= report.at("launches")[7].at("end_us").get<double>());
        const auto &d = report.at("allocations")[0], &kept = report.at("allocations")[1];
        CHECK(d.at("name") == "d");
        CHECK(d.at("freed") == true);
        CHECK(d.at("freed_at").at("line") == 32);
        CHECK(d.at("call") == 0);
        CHECK(d.at("freed_call") == 11);
        CHECK(d.at("begin_us").get<double>() < d.at("end_us").get<double>());
        CHECK(kept.at("freed") == false);
        CHECK(kept.at("freed_call") == -1);
        CHECK(kept.at("end_us") == report.at("total_us"));
        REQUIRE(report.at("leaks").size() == 1);
        CHECK(report.at("leaks")[0].at("name") == "kept");

        const auto& marks = report.at("marks");
        REQUIRE(marks.size() == 2);
        CHECK(marks[0].at("name") == "here");
        CHECK(marks[0].at("begin_us") == marks[0].at("end_us"));
        CHECK(marks[1].at("name") == "all");
        CHECK(marks[1].at("begin_us").get<double>() < calls[0].at("begin_us").get<double>());
        CHECK(marks[1].at("end_us").get<double>() > calls[9].at("end_us").get<double>());
        CHECK(marks[1].at("end_us").get<double>() < calls[10].at("begin_us").get<double>());
        const std::string timeline = lockstep::read_file(trace).value();
        for (const char* part : {"\"host\"", "cudaDeviceSynchronize (", "\"marks\"", "\"here\"", "fill<float>"})
            CHECK(timeline.find(part) != std::string::npos);
    }
}

TEST_CASE("a place whose lines nobody knows leaves the site unknown and the sentence whole") {
    Report report;
    report.places.push_back({.frames = {{"/nowhere/program", 0x1234}}});
    report.errors.push_back({.call = "cudaFree", .error = "e", .message = "", .site = {"", 0, 0}});
    report.errors[0].message = "freed before (at " + lockstep::runtime::text_of({"", 0, 0}) + ")";
    const Report there = lockstep::runtime::report_of(to_json(report));
    CHECK(to_json(there) == to_json(report));
    resolve_sites(report);
    CHECK(report.places.empty());
    CHECK(report.errors[0].site.line == 0);
    CHECK(report.errors[0].message == "freed before (at an unknown line)");
}

}  // namespace
}  // namespace runtime_calls_test
