// Every bundled kernel: its PTX is its source's, and the modelled GPU computes from that PTX what the native twin computes,
// whichever compiler made it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_cases.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_kernels_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;

namespace {
const std::vector<Shape> shapes = {{1, 1, 1}, {3, 5, 7}, {17, 33, 19}, {31, 37, 1}, {16, 16, 16}};
const std::vector<Shape> large_shapes = {{64, 10, 128}, {64, 128, 784}};

std::string read(const std::string& file) {
    return read_file(resource_root() / file).value();
}

std::set<std::string> kernel_files() {
    std::set<std::string> names;
    for (const KernelRow& row : kernels()) names.emplace(row.file.substr(0, row.file.rfind('.')));
    return names;
}

// What the machine runs: without comments, file names, blank lines and the debugger's sections at the end (which hold a hash
// of the file's path).
std::string instructions_of(const std::string& ptx) {
    std::istringstream lines(ptx);
    std::string result;
    for (std::string line; std::getline(lines, line) && line.find(".section") == std::string::npos;) {
        line = line.substr(0, line.find("//"));
        if (line.find(".file") == std::string::npos && line.find_first_not_of(" \t") != std::string::npos)
            result += line + "\n";
    }
    return result;
}

// Runs the case functionally from any PTX; the buffers afterwards.
Values run_program(const ptx::Program& program, const KernelCase& kernel_case) {
    simt::Memory memory;
    std::vector<Pointer> pointers;
    for (const Buffer& buffer : kernel_case.buffers) {
        const auto bytes = bytes_of(buffer);
        pointers.push_back({memory.allocate(bytes.size(), "buffer")});
        std::memcpy(memory.write(pointers.back().address, bytes.size()), bytes.data(), bytes.size());
    }
    std::vector<Argument> arguments = kernel_case.arguments;
    for (Argument& argument : arguments)
        if (const auto* index = std::get_if<Pointer>(&argument)) argument = pointers[index->address];
    const auto result = simt::launch(program, {kernel_case.grid, kernel_case.block, 0, pack(program, arguments)}, memory);
    if (result.fault) FAIL_CHECK(simt::render(*result.fault));
    Values after;
    for (size_t i = 0; i < pointers.size(); ++i) {
        const Buffer& buffer = kernel_case.buffers[i];
        std::vector<std::byte> bytes(buffer.values.size() * size_of(buffer.type));
        std::memcpy(bytes.data(), memory.read(pointers[i].address, bytes.size()), bytes.size());
        after.push_back(values_of(bytes, buffer.type));
    }
    return after;
}

bool has_entry(const ptx::Module& module, std::string_view name) {
    return std::any_of(module.entries.begin(), module.entries.end(),
                       [&](const ptx::Entry& entry) { return entry.name == name; });
}

double worst_difference(const Values& a, const Values& b) {
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, difference(a[i], b[i]));
    return worst;
}

// Of the kernels every nth, where a sample is enough.
void check_twins(const std::vector<Shape>& those, size_t seed, size_t nth) {
    const auto host = make_host({});
    const auto sim = open_device("sim:v100", {.functional = true});
    size_t number = 0;
    for (const KernelRow& row : kernels()) {
        if (!sampled(number++, nth)) continue;
        for (size_t i = 0; i < those.size(); ++i) {
            const KernelCase kernel_case = case_of(row, those[i], seed + i);
            INFO(row.name << " " << those[i].m << " x " << those[i].n << " x " << those[i].k);
            const double apart = worst_difference(run_case(*host, kernel_case), run_case(*sim.value(), kernel_case));
            if (kernel_case.exact)
                CHECK(apart == 0.0);
            else
                CHECK(apart < kernel_case.tolerance);
        }
    }
}
}  // namespace

TEST_CASE("the checked-in PTX of every kernel is that of its source") {
    for (const std::string& name : kernel_files()) {
        const std::string ptx = read("kernels/ptx/" + name + ".ptx");
        const std::string wanted =
            "// kernels/" + name + ".cu fnv1a64:" + fmt::format("{:016x}", fnv1a64(read("kernels/" + name + ".cu"))) + " ";
        INFO("when a kernel has changed, ./dev kernels compiles it");
        CHECK(ptx.substr(0, wanted.size()) == wanted);
        CHECK_THAT(ptx, Catch::Matchers::Contains(".file\t1 \"kernels/" + name + ".cu\""));
    }
}

TEST_CASE("every kernel source belongs to a row, and every PTX to a source") {
    std::set<std::string> sources, ptx;
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "kernels"))
        if (entry.path().extension() == ".cu") sources.insert(entry.path().stem().string());
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "kernels" / "ptx"))
        ptx.insert(entry.path().stem().string());
    CHECK(sources == kernel_files());
    CHECK(ptx == sources);
}

TEST_CASE("nvcc makes of every source the PTX that is checked in", "[long]") {
    for (const DeviceListing& listing : list_compilers()) {
        if (listing.name != "nvcc") continue;
        size_t number = 0;
        for (const std::string& name : kernel_files()) {
            if (!sampled(number++, 5)) continue;
            const std::string file = "kernels/" + name + ".cu", checked_in = read("kernels/ptx/" + name + ".ptx");
            const std::string first_line = checked_in.substr(0, checked_in.find('\n'));
            if (!listing.available || first_line.find(listing.description + " ") == std::string::npos) {
                WARN("not compared: the PTX is by another compiler than the one here (" << listing.description
                                                                                        << "): " << first_line);
                return;
            }
            const size_t arch = first_line.find("-arch=") + 6;
            const Compiled compiled =
                compile(read(file), file,
                        {.compiler = "nvcc", .arch = first_line.substr(arch, first_line.find(' ', arch) - arch)})
                    .value();
            CHECK(instructions_of(compiled.ptx) == instructions_of(checked_in));
        }
    }
}

TEST_CASE("the modelled GPU computes what every kernel's native twin computes, for any shape") {
    check_twins(shapes, 1, 1);
}

TEST_CASE("so it does for large shapes", "[long]") {
    check_twins(large_shapes, 100, 4);
}

TEST_CASE("PTX of every compiler that is here gives every kernel's results on the modelled GPU", "[long]") {
    const auto host = make_host({});
    for (const DeviceListing& listing : list_compilers()) {
        if (!listing.available) {
            WARN(listing.name << " is not here: " << listing.description);
            continue;
        }
        std::map<std::string_view, ptx::Module> modules;
        std::map<std::string_view, size_t> files;
        for (const KernelRow& row : kernels()) {
            if (!sampled(files.try_emplace(row.file, files.size()).first->second, 4)) continue;
            INFO(row.name << " by " << listing.description);
            const std::string file = "kernels/" + std::string(row.file);
            if (!modules.contains(row.file)) {
                const Compiled compiled = compile(read(file), file, {.compiler = listing.name}).value();
                modules.emplace(row.file, ptx::parse(compiled.ptx, std::string(row.file)).value());
            }
            if (!has_entry(modules.at(row.file), row.name)) {  // element.h: clang without libclc has no f64 exponential
                WARN(row.name << " is not compared: " << listing.description << " has no libclc");
                CHECK((row.type == DType::f64 && listing.name == "clang"));
                continue;
            }
            const auto program = ptx::decode(modules.at(row.file), std::string(row.name)).value();
            CHECK(program->source_file == file);
            const KernelCase kernel_case = case_of(row, {33, 37, 19}, 5);
            CHECK(worst_difference(run_case(*host, kernel_case), run_program(*program, kernel_case)) <
                  std::max(kernel_case.tolerance, row.type == DType::f64 ? 1e-13 : 1e-5));
        }
    }
}

}  // namespace device_kernels_test
