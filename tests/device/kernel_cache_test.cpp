// The cache of compiled kernels: what is found there is taken, what could have changed beside the source is not kept.
#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "tests/catch.h"
#include "tests/compilers_here.h"

namespace device_kernel_cache_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

struct OwnCache {  // for as long as it lives
    TemporaryFolder folder;
    std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
    OwnCache() { ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1); }
    ~OwnCache() {
        if (before.empty())
            ::unsetenv("XDG_CACHE_HOME");
        else
            ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
    }
    std::vector<fs::path> entries() const {
        std::vector<fs::path> found;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder.path() / "lockstep" / "kernels", error))
            found.push_back(entry.path());
        return found;
    }
};

const std::string kernel = "__global__ void one(int* p) { *p = 1; }\n";

TEST_CASE("a kernel is compiled once, and again when its text or its options change") {
    if (!compiler_here()) {
        WARN("skipped: no compiler of CUDA C++ is here");
        return;
    }
    const OwnCache cache;
    const auto first = device::compile(kernel, "one.cu");
    REQUIRE(first.ok());
    CHECK_FALSE(first.value().from_cache);
    REQUIRE(cache.entries().size() == 1);
    const std::string mark = "// from the cache\n";
    write_file(cache.entries().front(), mark + read_file(cache.entries().front()).value());
    const auto again = device::compile(kernel, "one.cu");
    REQUIRE(again);
    CHECK(again.value().ptx.find(mark) == 0);
    CHECK(again.value().from_cache);
    CHECK(again.value().compiler == device::compiler_version(""));
    const auto changed = device::compile(kernel + "\n", "one.cu");
    REQUIRE(changed);
    CHECK(changed.value().ptx.find(mark) == std::string::npos);
    device::CompileOptions defined;
    defined.define = {"N=1"};
    CHECK(device::compile(kernel, "one.cu", defined).value().ptx.find(mark) == std::string::npos);
    CHECK(cache.entries().size() == 3);
    write_file(cache.entries().front(), "damaged");
    for (const std::string& text : {kernel, kernel + "\n"}) CHECK(device::compile(text, "one.cu").ok());
}

TEST_CASE("a whole program's kernels are kept under the compiler that made them") {
    if (!compiler_here()) return;
    const OwnCache cache;
    const std::string program = "#include <cstdio>\n" + kernel + "int main() { one<<<1, 1>>>(0); puts(\"\"); }\n";
    const auto first = device::compile(program, "program.cu"), second = device::compile(program, "program.cu");
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(second.value().from_cache);
    CHECK(second.value().compiler == first.value().compiler);
    CHECK(second.value().ptx == first.value().ptx);
}

TEST_CASE("a source with a header of its own, an error or a warning is not kept") {
    if (!compiler_here()) return;
    const OwnCache cache;
    const TemporaryFolder folder;
    write_file(folder.path() / "own.h", "#define VALUE 1\n");
    const std::string file = (folder.path() / "own.cu").string(),
                      text = "#include \"own.h\"\n__global__ void k(int* p) { *p = VALUE; }\n";
    write_file(file, text);
    REQUIRE(device::compile(text, file).ok());
    CHECK_FALSE(device::compile("__global__ void k() { undeclared(); }\n", "wrong.cu").ok());
    CHECK(cache.entries().empty());
}

}  // namespace
}  // namespace device_kernel_cache_test
