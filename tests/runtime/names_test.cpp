// Names of allocations, out of a call's words and out of a source's line.
#include "core/runtime/report/names.h"

#include "core/base/files.h"
#include "tests/catch.h"

namespace runtime_names_test {

using namespace lockstep;
using namespace lockstep::runtime;

TEST_CASE("a call's first argument names what it allocates") {
    CHECK(name_in("&d, n * sizeof(float)") == "d");
    CHECK(name_in("(void**)&d_x, bytes") == "d_x");
    CHECK(name_in("(void **)(&d_x), bytes") == "d_x");
    CHECK(name_in("reinterpret_cast<void**>(&x), f(a, b)") == "x");
    CHECK(name_in("&rows[k], bytes") == "rows[k]");
    CHECK(name_in("&sim.pos, n)); CHECK(cudaMalloc(&other, n)") == "sim.pos");
}

TEST_CASE("an allocation without a name gets the one that its line has, and so do the sentences") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "main.cu").string();
    write_file(file,
               "int main() {\n"
               "    cudaMalloc(&d_in, n); CHECK(cudaMalloc((void**)&d_out, n));  // cudaMalloc(&not_this, n)\n"
               "    for (int k = 0; k < 2; ++k) cudaMallocHost(&h, n);\n"
               "    make(&d_in); cudaMalloc(&a, n), cudaMalloc(&b, n), cudaMalloc(&c, n);\n"
               "}\n");
    Report report;
    const auto allocate = [&](const std::string& name, int line) {
        AllocationRecord record;
        record.name = name;
        record.site = {file, line};
        report.allocations.push_back(record);
    };
    allocate("allocation 1", 2);
    allocate("allocation 2", 2);
    allocate("pinned allocation 3", 3);
    allocate("pinned allocation 4", 3);
    allocate("allocation 5", 4);  // one of three calls, of which nobody knows which it is
    allocate("own", 2);
    report.leaks.push_back(report.allocations[1]);
    report.notes = {"'allocation 12' and 'allocation 1' and 'allocation 2'"};
    report.races = {"it's 'allocation 5'"};
    name_allocations(report);
    std::vector<std::string> names;
    for (const AllocationRecord& allocation : report.allocations) names.push_back(allocation.name);
    CHECK(names == std::vector<std::string>{"d_in", "d_out", "h", "h", "allocation 5", "own"});
    CHECK(report.leaks.front().name == "d_out");
    CHECK(report.notes.front() == "'allocation 12' and 'd_in' and 'd_out'");
    CHECK(report.races.front() == "it's 'allocation 5'");
}

}  // namespace runtime_names_test
